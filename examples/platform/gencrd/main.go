// Gencrd writes the CRD of the example. Like tools that generate CRDs from Go types, it writes out
// a type wherever it occurs.
//
//	go run ./examples/platform/gencrd > examples/platform/crd.yaml
package main

import (
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/yaml"
)

const (
	beta   = "v1beta1"
	stable = "v1"
)

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gencrd:", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	out, err := yaml.Marshal(crd())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "# Made by `go run ./examples/platform/gencrd`: change that.\n%s", out)
	return err
}

func crd() schema {
	return schema{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata": schema{
			"name":        "platforms.ops.example.com",
			"annotations": schema{"cert-manager.io/inject-ca-from": "webhookd/webhookd"},
		},
		"spec": schema{
			"group": "ops.example.com",
			"scope": "Namespaced",
			"names": schema{"plural": "platforms", "singular": "platform", "kind": "Platform", "listKind": "PlatformList"},
			"conversion": schema{"strategy": "Webhook", "webhook": schema{
				"conversionReviewVersions": []string{"v1"},
				"clientConfig": schema{"service": schema{
					"namespace": "webhookd", "name": "webhookd", "path": "/crdconvert", "port": 443,
				}},
			}},
			"versions": []schema{version(beta, betaSpec()), version(stable, stableSpec())},
		},
	}
}

func version(name string, spec schema) schema {
	return schema{
		"name": name, "served": true, "storage": name == stable, "subresources": schema{"status": schema{}},
		"schema": schema{"openAPIV3Schema": object(props{"spec": spec, "status": status(name)}, "spec")},
	}
}

// betaSpec grew field by field.
func betaSpec() schema {
	return object(props{
		"version":        text().about("The release of the platform."),
		"server":         component(beta),
		"gateway":        component(beta),
		"worker":         component(beta),
		"extraWorkers":   mapOf(component(beta)).about("More workers, by their names."),
		"tlsEnabled":     boolean(),
		"tlsSecret":      text(),
		"tlsMinVersion":  enum("TLS12", "TLS13"),
		"storageClass":   text(),
		"storageSize":    text().about("A quantity such as 10Gi."),
		"backupSchedule": text(),
		"backupKeep":     text().about("A duration such as 720h."),
		"backupTarget":   text().about("BUCKET/PREFIX."),
		"auth": object(props{
			"kind":      enum("none", "oidc", "ldap"),
			"issuer":    text(),
			"clientID":  text(),
			"ldapURL":   text(),
			"groups":    set(text()),
			"adminUser": text(),
		}),
		"monitoring": object(props{
			"disabled":    boolean(),
			"interval":    text(),
			"alertLabels": mapOf(text()),
		}),
		"imagePullSecrets": list(text()),
		"featureGates":     text().about("NAME=true,NAME=false. Nothing reads it since 0.9."),
	}, "version")
}

// stableSpec was designed.
func stableSpec() schema {
	return object(props{
		"version": text().about("The release of the platform."),
		"server":  component(stable),
		"gateway": component(stable),
		"worker":  component(stable),
		"workers": keyed("name", withName(component(stable))).about("More workers."),
		"tls": object(props{
			"mode":       enum("Enabled", "Disabled"),
			"secretRef":  object(props{"name": text()}),
			"minVersion": enum("1.2", "1.3"),
		}),
		"storage": object(props{"className": text(), "sizeBytes": long()}),
		"backup": object(props{
			"schedule":         text(),
			"retentionSeconds": long(),
			"target":           object(props{"bucket": text(), "prefix": text()}),
		}),
		"auth": object(props{
			"oidc":   object(props{"issuer": text(), "clientID": text()}),
			"ldap":   object(props{"url": text()}),
			"groups": set(text()),
			"admins": list(text()),
		}),
		"monitoring": object(props{
			"enabled":         boolean(),
			"intervalSeconds": integer(),
			"alertLabels":     mapOf(text()),
		}),
		"imagePullSecrets": list(object(props{"name": text()})),
	}, "version")
}

func withName(s schema) schema {
	fields, _ := s["properties"].(props)
	return object(fields.and(props{"name": text().with(schema{"minLength": 1})}), "name")
}

func status(name string) schema {
	condition := object(props{
		"type": text(), "status": enum("True", "False", "Unknown"), "reason": text(), "message": text(),
		"lastTransitionTime": text().with(schema{"format": "date-time"}), "observedGeneration": long(),
	}, "type", "status")
	fields := props{
		"conditions":         keyed("type", condition),
		"observedGeneration": long(),
		"selector":           text(),
		"phase":              enum("Pending", "Running", "Failed"),
		"endpoints": list(object(props{
			"name": text(), "url": text(), "healthy": boolean(), "latencyMillis": integer(),
		})),
	}
	if name == beta {
		return object(fields.and(props{"readyServers": integer(), "readyWorkers": integer()}))
	}
	return object(fields.and(props{"ready": object(props{"servers": integer(), "workers": integer()})}))
}
