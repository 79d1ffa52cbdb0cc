package dashboard_test

// absent are the metrics and labels of the dashboard that no replica has, and why.
func absent() map[string]string {
	return map[string]string{
		"revision":                        "the build is not stamped",
		"webhookd_converter_panics_total": "rules do not panic",
		"webhookd_guard_rejections_total": "rules cannot change what the guard protects",
		"webhookd_stuck_conversions":      "rules always end by their deadline",
	}
}

// quiet are the queries, by panel and refId, that show nothing but zero, and why.
func quiet() map[string]string {
	return map[string]string{
		"11C": "rules always end by their deadline",
		"21C": "there are few connections",
		"23A": "rules do not panic",
		"23B": "webhookd has no known panic",
		"24A": "rules cannot change what the guard protects",
		"25A": "the test reads the log",
		"27C": "the folder of the certificate can be watched",
	}
}
