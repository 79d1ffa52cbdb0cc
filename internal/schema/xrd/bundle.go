package xrd

import (
	"encoding/base64"
	"maps"
)

// WithBundle returns the members of a CRD or XRD with a caBundle that can be decoded. One that is
// not base64, such as the placeholder of a page, becomes the text that it is, which holds no
// certificate. It does not change its argument.
func WithBundle(members map[string]any) map[string]any { return withBundle(members, "spec") }

func withBundle(members map[string]any, name string) map[string]any {
	below := map[string]string{"spec": "conversion", "conversion": "webhook", "webhook": "clientConfig", "clientConfig": "caBundle"}
	var changed any
	switch value := members[name].(type) {
	case map[string]any:
		changed = withBundle(value, below[name])
	case string:
		if _, err := base64.StdEncoding.DecodeString(value); name != "caBundle" || err == nil {
			return members
		}
		changed = base64.StdEncoding.EncodeToString([]byte(value))
	default:
		return members
	}
	members = maps.Clone(members)
	members[name] = changed
	return members
}
