{{- /* Bytes of a quantity such as 256Mi; empty for other notations. */ -}}
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

{{- /* A quantity such as 100m or 256Mi as a number; empty for other notations. */ -}}
{{- define "webhookd.quantity" -}}
{{- $quantity := kindIs "float64" . | ternary (printf "%v" .) (toString .) -}}
{{- $number := regexFind "^[0-9]+([.][0-9]+)?" $quantity -}}
{{- $units := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 -}}
{{- $unit := trimPrefix $number $quantity -}}
{{- if and $number (hasKey $units $unit) -}}
{{- mulf (float64 $number) (float64 (get $units $unit)) | printf "%f" -}}
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

{{- /* The longest time between two runs of a cron schedule, in hours: that of days, weeks, months or years. 0 if it is less than a
     day, or for other notations. */ -}}
{{- define "webhookd.hoursBetween" -}}
{{- $named := get (dict "@daily" 24 "@midnight" 24 "@weekly" 168 "@monthly" 744 "@yearly" 8784 "@annually" 8784) . -}}
{{- $fields := splitList " " (printf "%s * * * *" .) -}}
{{- $day := index $fields 2 -}}
{{- $weekday := index $fields 4 -}}
{{- if $named -}}
{{- $named -}}
{{- else if regexMatch "^[0-9]+$" (index $fields 3) -}}
8784
{{- else if and (regexMatch "^[0-9]+$" $day) (eq $weekday "*") -}}
744
{{- else if and (regexMatch "^([0-9]|[A-Za-z]+)$" $weekday) (eq $day "*") -}}
168
{{- else if regexMatch "^[0-9]+$" (index $fields 1) -}}
24
{{- else -}}
0
{{- end -}}
{{- end -}}

{{- /* GOMEMLIMIT: the memory limit less 38Mi, or less a tenth or a quarter of the limit if 38Mi is below or above that.
     Empty without a limit. */ -}}
{{- define "webhookd.goMemoryLimit" -}}
{{- with dig "limits" "memory" "" (.Values.resources | default dict) -}}
{{- with include "webhookd.bytes" . -}}
{{- $limit := int64 . -}}
{{- sub $limit (min (div $limit 4) (max (div $limit 10) 39845888)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
