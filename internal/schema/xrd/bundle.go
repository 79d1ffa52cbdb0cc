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
		if name != "caBundle" || Decodable(value) == value {
			return members
		}
		changed = Decodable(value)
	default:
		return members
	}
	members = maps.Clone(members)
	members[name] = changed
	return members
}

// Decodable returns a caBundle that can be decoded, as WithBundle does.
func Decodable(bundle string) string {
	if _, err := base64.StdEncoding.DecodeString(bundle); err == nil {
		return bundle
	}
	return base64.StdEncoding.EncodeToString([]byte(bundle))
}
