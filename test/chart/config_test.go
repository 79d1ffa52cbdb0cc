package chart_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/serve/config"

	"github.com/crdconvert/webhookd/test/chart"
)

// The server accepts the configuration file of each ci file.
func TestConfigurationIsValid(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := render(t, v, nil)
			full, _ := v["fullnameOverride"].(string)
			if full == "" {
				full = chart.ReleaseName
			}
			file := at(t, object(t, r, "ConfigMap", full), "data", "webhookd.yaml")
			loaded, err := config.Load(nil, []string{"WEBHOOKD_CONFIG=webhookd.yaml"}, func(string) ([]byte, error) { return []byte(file), nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := loaded.ForServe(); err != nil {
				t.Error(err)
			}
		})
	}
}
