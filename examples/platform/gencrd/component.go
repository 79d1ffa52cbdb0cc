package main

// component returns the schema of the pod settings of one part of the platform.
func component(version string) schema {
	fields := props{
		"replicas":           integer().atLeast(0),
		"args":               list(text()),
		"env":                keyed("name", variable(version)),
		"nodeSelector":       mapOf(text()),
		"tolerations":        list(toleration()),
		"serviceAccountName": text(),
		"priorityClassName":  text(),
		"volumes":            keyed("name", volume()),
		"topologySpread": list(object(props{
			"maxSkew": integer().atLeast(1), "topologyKey": text(), "whenUnsatisfiable": enum("DoNotSchedule", "ScheduleAnyway"),
		})),
		"securityContext": object(props{
			"runAsUser": long(), "runAsGroup": long(), "fsGroup": long(), "runAsNonRoot": boolean(),
			"supplementalGroups": list(long()),
			"seccompProfile":     object(props{"type": text(), "localhostProfile": text()}),
		}),
		"autoscaling": object(props{
			"minReplicas": integer().atLeast(0), "maxReplicas": integer().atLeast(1), "targetCPU": integer(),
		}),
	}
	if version == beta {
		return object(fields.and(props{
			"image":      text().about("REPOSITORY or REPOSITORY:TAG."),
			"pullPolicy": enum("always", "missing", "never"),
			"cpu":        text(),
			"memory":     text(),
			"probes": object(props{
				"live": probe(), "ready": probe(), "start": probe(),
			}),
			"gracePeriod": text().about("A duration such as 30s."),
			"labels":      mapOf(text()),
			"annotations": mapOf(text()),
			"ports":       mapOf(integer()).about("Numbers by names."),
			"stateless":   boolean(),
		}))
	}
	return object(fields.and(props{
		"image": object(props{
			"repository": text(), "tag": text(), "digest": text(), "pullPolicy": enum("Always", "IfNotPresent", "Never"),
		}),
		"resources":                     object(props{"requests": mapOf(intOrString()), "limits": mapOf(intOrString())}),
		"livenessProbe":                 probe(),
		"readinessProbe":                probe(),
		"startupProbe":                  probe(),
		"terminationGracePeriodSeconds": long(),
		"podMetadata":                   object(props{"labels": mapOf(text()), "annotations": mapOf(text())}),
		"ports": keyed("name", object(props{
			"name": text(), "port": integer(), "protocol": enum("TCP", "UDP").or("TCP"),
		}, "name")),
		"persistent": boolean(),
	}))
}

func variable(version string) schema {
	selector := object(props{"name": text(), "key": text(), "optional": boolean()}, "key")
	if version == beta {
		return object(props{"name": text(), "value": text(), "fromSecret": selector, "fromConfigMap": selector}, "name")
	}
	return object(props{
		"name": text(), "value": text(),
		"valueFrom": object(props{"secretKeyRef": selector, "configMapKeyRef": selector}),
	}, "name")
}

func probe() schema {
	return object(props{
		"path": text(), "port": intOrString(), "scheme": enum("HTTP", "HTTPS"), "command": list(text()),
		"initialDelaySeconds": integer().atLeast(0), "periodSeconds": integer().atLeast(1), "timeoutSeconds": integer().atLeast(1),
		"failureThreshold": integer().atLeast(1), "successThreshold": integer().atLeast(1),
	})
}

func toleration() schema {
	return object(props{
		"key": text(), "operator": enum("Exists", "Equal"), "value": text(), "tolerationSeconds": long(),
		"effect": enum("NoSchedule", "PreferNoSchedule", "NoExecute"),
	})
}

func volume() schema {
	return object(props{
		"name": text(), "mountPath": text(), "readOnly": boolean(),
		"secret":    object(props{"name": text(), "optional": boolean()}),
		"configMap": object(props{"name": text(), "optional": boolean()}),
		"claim":     object(props{"name": text()}),
		"emptyDir":  object(props{"medium": text(), "sizeLimit": intOrString()}),
	}, "name", "mountPath")
}
