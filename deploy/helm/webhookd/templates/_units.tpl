{{- /* Bytes of a quantity such as 256Mi; empty where it is written in another way. */ -}}
{{- define "webhookd.bytes" -}}
{{- $quantity := . -}}
{{- if kindIs "float64" . -}}{{- $quantity = int64 . -}}{{- end -}}
{{- $quantity = toString $quantity -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $quantity -}}
{{- $unit := trimPrefix $number $quantity -}}
{{- $units := dict "B" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $factor := get $units (default "B" $unit) -}}
{{- if and $number $factor -}}
{{- mulf (float64 $number) $factor | int64 -}}
{{- end -}}
{{- end -}}

{{- /* Milliseconds of a duration such as 1h30m. */ -}}
{{- define "webhookd.milliseconds" -}}
{{- $units := dict "h" 3600000 "m" 60000 "s" 1000 "ms" 1 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(?:ms|h|m|s)" (toString .) -1 -}}
{{- $number := regexFind "^[0-9.]+" . -}}
{{- $sum = addf $sum (mulf (float64 $number) (get $units (trimPrefix $number .))) -}}
{{- end -}}
{{- int64 $sum -}}
{{- end -}}

{{- /* What the Go runtime aims to stay below: the memory limit less 38Mi, which is a tenth of it at least and a quarter at most.
     Empty where there is no limit. */ -}}
{{- define "webhookd.goMemoryLimit" -}}
{{- with dig "limits" "memory" "" (.Values.resources | default dict) -}}
{{- with include "webhookd.bytes" . -}}
{{- $limit := int64 . -}}
{{- sub $limit (min (div $limit 4) (max (div $limit 10) 39845888)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
