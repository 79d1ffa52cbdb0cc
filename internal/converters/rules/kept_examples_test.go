package rules_test

import (
	"maps"
	"path/filepath"
	"testing"
)

// The examples, edited at one version where the other one says more: the edit is seen, and
// everything else stays.
func TestEditsOfExamples(t *testing.T) {
	t.Parallel()
	exampleRows().hold(t)
}

// Each example of rules has a row.
func TestEveryExampleIsEdited(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../../examples/*/rules.yaml")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	edited := map[string]bool{}
	for _, all := range []rows{exampleRows(), unionRows()} {
		for _, r := range all {
			edited[r.rulesFile] = true
		}
	}
	for _, file := range folders {
		name := filepath.Base(filepath.Dir(file))
		if !edited["examples/"+name+"/rules.yaml"] {
			t.Errorf("no row is about examples/%s", name)
		}
	}
}

func exampleRows() rows {
	all := rows{}
	for _, more := range []rows{textRows(), enumRows(), elementRows(), looseRows()} {
		maps.Copy(all, more)
	}
	return all
}

// textRows are about texts that are several values at the other version.
func textRows() rows {
	const job = `jobTemplate: {spec: {template: {}}}`
	return rows{
		"cronjob: a schedule without parts stays": {world: exampleOf("cronjob"), steps: []step{
			create("v1", `{spec: {schedule: "@daily", `+job+`}}`), edit("v2", `{spec: {suspend: true}}`),
			shows("v1", `{spec: {schedule: "@daily", suspend: true, `+job+`}}`),
		}},
		"cronjob: a schedule that comes instead is seen": {world: exampleOf("cronjob"), steps: []step{
			create("v1", `{spec: {schedule: "@daily", `+job+`}}`), edit("v2", `{spec: {schedule: {hour: "3"}}}`),
			shows("v1", `{spec: {schedule: "* 3 * * *", `+job+`}}`),
		}},
		"cronjob: a schedule that was not there stays absent": {world: exampleOf("cronjob"), steps: []step{
			create("v2", `{spec: {`+job+`}}`), edit("v1", `{spec: {suspend: true}}`), shows("v2", `{spec: {suspend: true, `+job+`}}`),
			edit("v1", `{spec: {schedule: "5 * * * *"}}`), shows("v2", `{spec: {schedule: {minute: "5"}, suspend: true, `+job+`}}`),
		}},
		"crontab-rules: a port without a host stays": {world: exampleOf("crontab-rules"), steps: []step{
			create("v1", `{port: "80", spec: {}}`), edit("v1beta1", `{spec: {replicas: 2}}`), shows("v1", `{port: "80", spec: {replicas: 2}}`),
		}},
		"crontab-rules: both of another text are seen": {world: exampleOf("crontab-rules"), steps: []step{
			create("v1", `{port: "80", spec: {}}`), edit("v1beta1", `{hostPort: "h:81"}`), shows("v1", `{host: h, port: "81", spec: {}}`),
		}},
		"quickstart: what only the other version has stays": {world: exampleOf("quickstart"), steps: []step{
			create("v1beta1", `{spec: {cronSpec: "0 3 * * *", hostPort: "h:80", mailTo: ops@example.com}}`), edit("v1", `{spec: {port: "81"}}`),
			shows("v1beta1", `{spec: {cronSpec: "0 3 * * *", hostPort: "h:81", mailTo: ops@example.com}}`),
		}},
		"maintenance-window: days stay spelt out": {world: exampleOf("maintenance-window"), steps: []step{
			create("v1beta1", `{spec: {window: "Mon,Tue,Wed 02:00"}}`), edit("v1", `{spec: {target: orders}}`),
			shows("v1beta1", `{spec: {target: orders, window: "Mon,Tue,Wed 02:00"}}`),
		}},
		"maintenance-window: another start is seen": {world: exampleOf("maintenance-window"), steps: []step{
			create("v1beta1", `{spec: {window: "Mon,Tue,Wed 02:00"}}`), edit("v1", `{spec: {window: {start: "03:00"}}}`),
			shows("v1beta1", `{spec: {window: "Mon-Wed 03:00"}}`),
		}},
		"crossplane: a schedule that v1alpha1 lacks stays": {world: exampleOf("crossplane"), steps: []step{
			create("v1", `{spec: {class: Small, storage: {sizeGB: 10}, backup: {enabled: true, schedule: "0 3 * * *"}}}`),
			edit("v1alpha1", `{spec: {size: large}}`),
			shows("v1", `{spec: {class: Large, storage: {sizeGB: 10}, backup: {enabled: true, schedule: "0 3 * * *"}}}`),
		}},
		"units: texts stay as they were written": {world: exampleOf("units"), steps: []step{
			create("v1alpha1", `{spec: {ttl: 90s, memory: 1024Ki, cpu: a lot, replicas: {min: 2}}}`), edit("v1", `{spec: {enabled: true}}`),
			shows("v1alpha1", `{spec: {ttl: 90s, memory: 1024Ki, cpu: a lot, replicas: {min: 2}, disabled: false}}`),
		}},
		"units: each edit is seen, and the rest stays": {world: exampleOf("units"), steps: []step{
			create("v1alpha1", `{spec: {ttl: 90s, memory: 1024Ki, cpu: a lot, replicas: {min: 2}}}`),
			edit("v1", `{spec: {ttlSeconds: 60}}`),
			shows("v1alpha1", `{spec: {ttl: 1m0s, memory: 1024Ki, cpu: a lot, replicas: {min: 2}}}`),
			edit("v1", `{spec: {replicas: 1-3}}`),
			shows("v1alpha1", `{spec: {ttl: 1m0s, memory: 1024Ki, cpu: a lot, replicas: {min: 1, max: 3}}}`),
			edit("v1", `{spec: {cpuMillis: 500, memoryBytes: null}}`),
			shows("v1alpha1", `{spec: {ttl: 1m0s, cpu: 500m, replicas: {min: 1, max: 3}}}`),
		}},
		"yaml-text: comments stay": {world: exampleOf("yaml-text"), steps: []step{
			create("v1alpha1", `{spec: {config: "workers: 4 # why\n", policy: "{ }"}}`), edit("v1", `{spec: {caCertificate: x}}`),
			shows("v1alpha1", `{spec: {config: "workers: 4 # why\n", policy: "{ }", caBundle: eA==}}`),
		}},
		"yaml-text: an edit of what the text says is seen": {world: exampleOf("yaml-text"), steps: []step{
			create("v1alpha1", `{spec: {config: "workers: 4 # why\n", policy: "{ }"}}`), edit("v1", `{spec: {config: {workers: 8}}}`),
			shows("v1alpha1", `{spec: {config: "workers: 8\n", policy: "{ }"}}`),
		}},
	}
}

// enumRows are about enums that have more values in one version.
func enumRows() rows {
	return rows{
		"enum: one of two values stays": {world: exampleOf("enum"), steps: []step{
			create("v1alpha1", `{spec: {policy: {applyMode: Manual}}}`), edit("v1", `{spec: {priority: High}}`),
			shows("v1alpha1", `{spec: {policy: {applyMode: Manual}, priority: 2}}`),
		}},
		"enum: another value is seen": {world: exampleOf("enum"), steps: []step{
			create("v1alpha1", `{spec: {policy: {applyMode: Manual}}}`), edit("v1", `{spec: {applyPolicy: {mode: Apply}}}`),
			shows("v1alpha1", `{spec: {policy: {applyMode: All}}}`),
		}},
		"enum: a value that only the hub has stays": {world: exampleOf("enum"), steps: []step{
			create("v1", `{spec: {state: Active, applyPolicy: {mode: "Off"}}}`), edit("v1alpha1", `{spec: {priority: 0}}`),
			shows("v1", `{spec: {state: Active, applyPolicy: {mode: "Off"}, priority: Low}}`),
		}},
		"enum: an edit between values that the hub has one for takes away what only the hub had": {world: exampleOf("enum"), steps: []step{
			create("v1", `{spec: {state: Active, applyPolicy: {mode: "Off"}}}`), edit("v1alpha1", `{spec: {policy: {applyMode: Manual}}}`),
			shows("v1", `{spec: {state: Active, applyPolicy: {mode: Preview}}}`),
			shows("v1alpha1", `{spec: {paused: false, policy: {applyMode: Manual}}}`),
		}},
		"enum: what was not said is not said, until the hub says something else": {world: exampleOf("enum"), steps: []step{
			create("v1alpha1", `{spec: {}}`), edit("v1", `{spec: {notify: [pager, chat]}}`), shows("v1alpha1", `{spec: {notify: [page, chat]}}`),
			edit("v1", `{spec: {state: Paused}}`), shows("v1alpha1", `{spec: {notify: [page, chat], paused: true}}`),
		}},
		"labels: what a label cannot say stays": {world: exampleOf("labels"), steps: []step{
			create("v1", `{spec: {team: Blue Team, contact: {email: a@b, phone: "1"}, path: ns/n}}`), edit("v1alpha1", `{spec: {title: x}}`),
			shows("v1", `{spec: {team: Blue Team, contact: {email: a@b, phone: "1"}, path: ns/n, title: x}}`),
		}},
		"labels: labels and annotations that are edited are seen": {world: exampleOf("labels"), steps: []step{
			create("v1", `{spec: {team: Blue Team, contact: {email: a@b, phone: "1"}, path: ns/n}}`),
			edit("v1alpha1", `{metadata: {labels: {org.example.com/team: red}, annotations: {org.example.com/contact: c@d}}}`),
			shows("v1", `{spec: {team: red, contact: {email: c@d, phone: "1"}, path: ns/n}}`),
			edit("v1alpha1", `{metadata: {annotations: {org.example.com/contact: null}}}`),
			shows("v1", `{spec: {team: red, contact: {phone: "1"}, path: ns/n}}`),
		}},
		"labels: a label and an annotation that fit nothing stay": {world: exampleOf("labels"), steps: []step{
			create("v1alpha1", `{metadata: {labels: {tier: lead}, annotations: {org.example.com/cost-center: 47-11}}}`),
			edit("v1", `{spec: {title: x}}`),
			shows("v1alpha1", `{metadata: {labels: {tier: lead}, annotations: {org.example.com/cost-center: 47-11}}, spec: {title: x}}`),
		}},
	}
}

// elementRows are about elements and entries.
func elementRows() rows {
	const params = `{spec: {params: [{name: version, value: "1", description: d}, {name: os, value: linux, description: e}]}}`
	const others = `attributes: [{name: owner, value: o}, {name: engine, value: mysql}], ` +
		`containers: [{name: main, image: "a:1", env: [{name: TZ, value: UTC}]}, {name: side, image: s}], zones: [a, b]`
	return rows{
		"map-list: descriptions stay with their names": {world: exampleOf("map-list"), steps: []step{
			create("v1", params), edit("v1alpha1", `{spec: {params: {version: "2"}}}`),
			shows("v1", `{spec: {params: [{name: version, value: "2", description: d}, {name: os, value: linux, description: e}]}}`),
			edit("v1alpha1", `{spec: {params: {os: null}}}`), shows("v1", `{spec: {params: [{name: version, value: "2", description: d}]}}`),
		}},
		"map-list: stages are edited by themselves": {world: exampleOf("map-list"), steps: []step{
			create("v1", `{spec: {stages: [{name: b, image: i, timeout: 1}, {name: a, image: i}], quotas: {x: {processor: "1"}}}}`),
			edit("v1alpha1", `{spec: {stages: {a: {timeoutMinutes: 3}}, limits: {x: {memory: m}}}}`),
			shows("v1", `{spec: {stages: [{name: b, image: i, timeout: 1}, {name: a, image: i, timeout: 3}], quotas: {x: {processor: "1", memory: m}}}}`),
		}},
		"pick: what no rule picks stays": {world: exampleOf("pick"), steps: []step{
			create("v1", `{spec: {`+others+`}}`), edit("v1alpha1", `{spec: {image: "a:2", zone: c, engine: pg}}`),
			shows("v1", `{spec: {attributes: [{name: owner, value: o}, {name: engine, value: pg}], `+
				`containers: [{name: main, image: "a:2", env: [{name: TZ, value: UTC}]}, {name: side, image: s}], zones: [c, b]}}`),
		}},
		"pick: an element that was not there stays absent": {world: exampleOf("pick"), steps: []step{
			create("v1", `{spec: {zones: [a]}}`), edit("v1alpha1", `{spec: {zone: b}}`), shows("v1", `{spec: {zones: [b]}}`),
			edit("v1alpha1", `{spec: {engine: mysql}}`), shows("v1", `{spec: {attributes: [{name: engine, value: mysql}], zones: [b]}}`),
		}},
		"recursive: an edit deep inside is seen": {world: exampleOf("recursive"), steps: []step{
			create("v1", `{spec: {include: {operator: And, conditions: [{operator: Not, conditions: [{field: f, caseSensitive: true}]}]}}}`),
			edit("v1alpha1", `{spec: {filter: {subs: [{op: not, subs: [{key: g, nocase: true}]}]}}}`),
			shows("v1", `{spec: {include: {operator: And, conditions: [{operator: Not, conditions: [{field: g, caseSensitive: false}]}]}}}`),
		}},
		"wrap: what is next to the wrapped value stays": {world: exampleOf("wrap"), steps: []step{
			create("v1", `{spec: {dataFrom: [{extract: {key: a}}, {find: {path: p}}, {extract: {key: b}}], listeners: [{port: 53, protocol: UDP}], `+
				`owners: [m, j], namespaces: {eu: {name: t, readOnly: true}}}}`),
			edit("v1alpha1", `{spec: {owner: k, ports: [53, 80], namespaces: {eu: u}, dataFrom: [{key: a}, {key: c}, {key: b}]}}`),
			shows("v1", `{spec: {dataFrom: [{extract: {key: a}}, {find: {path: p}}, {extract: {key: c}}, {extract: {key: b}}], `+
				`listeners: [{port: 53, protocol: UDP}, {port: 80}], owners: [k, j], namespaces: {eu: {name: u, readOnly: true}}}}`),
		}},
		"wrap: what was in an element goes with it": {world: exampleOf("wrap"), steps: []step{
			create("v1", `{spec: {listeners: [{port: 53, protocol: UDP}, {port: 443}]}}`), edit("v1alpha1", `{spec: {ports: [443]}}`),
			shows("v1", `{spec: {listeners: [{port: 443}]}}`),
		}},
	}
}

// looseRows are about fields without a schema, and the big example.
func looseRows() rows {
	return rows{
		"unknown-fields: what the other version cannot have survives an edit": {world: exampleOf("unknown-fields"), steps: []step{
			create("v1alpha1", `{spec: {chart: c, extra: {timeout: 3, color: red}, targetPort: 8080, weights: {a: 1, b: 10%}}}`),
			edit("v1", `{spec: {options: {timeout: 5}, weights: {a: 2}}}`),
			shows("v1alpha1", `{spec: {chart: c, extra: {timeout: 5, color: red}, targetPort: 8080, weights: {a: 2, b: 10%}}}`),
			edit("v1", `{spec: {targetPort: "9090"}}`),
			shows("v1alpha1", `{spec: {chart: c, extra: {timeout: 5, color: red}, targetPort: "9090", weights: {a: 2, b: 10%}}}`),
		}},
		"unknown-fields: a value of another type gives way to an edit": {world: exampleOf("unknown-fields"), steps: []step{
			create("v1alpha1", `{spec: {vars: [{key: a, value: {x: 1}}, {key: b, value: s}]}}`),
			edit("v1", `{spec: {vars: [{name: a, value: t}, {name: b, value: s}]}}`),
			shows("v1alpha1", `{spec: {vars: [{key: a, value: t}, {key: b, value: s}]}}`),
		}},
		"platform: what only v1 has of a component stays": {world: exampleOf("platform"), steps: []step{
			createFile("v1", "examples/platform/cases/hub-only.v1.yaml"),
			edit("v1beta1", `{spec: {server: {memory: 8Gi}, auth: {adminUser: anna}}}`),
			patchShows("v1", "examples/platform/cases/hub-only.v1.yaml",
				`{spec: {server: {resources: {requests: {memory: 8Gi}}}, auth: {admins: [anna, jörg]}}}`),
		}},
		"platform: a part of a text that was alone stays": {world: exampleOf("platform"), steps: []step{
			createFile("v1", "examples/platform/cases/hub-only.v1.yaml"), edit("v1beta1", `{spec: {version: "2.1"}}`),
			patchShows("v1", "examples/platform/cases/hub-only.v1.yaml", `{spec: {version: "2.1"}}`),
			edit("v1beta1", `{spec: {backupTarget: b/p}}`),
			patchShows("v1", "examples/platform/cases/hub-only.v1.yaml", `{spec: {version: "2.1", backup: {target: {bucket: b, prefix: p}}}}`),
		}},
	}
}

// createFile creates the object of a file.
func createFile(version, file string) step {
	return func(w *walk) { w.t.Helper(); create(version, string(fromRoot(w.t, file)))(w) }
}

// patchShows is shows for the object of a file with a merge patch.
func patchShows(version, file, patch string) step {
	return func(w *walk) {
		w.t.Helper()
		want := fromYAML(w.t, string(fromRoot(w.t, file)))
		mergePatch(want, fromYAML(w.t, patch))
		shows(version, string(encoded(w.t, want)))(w)
	}
}
