package transform

import (
	"bytes"
	"errors"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A codec is one value in two forms: plain, and encoded in a string. The string is the encoded form
// of durations and QuantityInt as well.
type codec struct {
	name           string
	plain, encoded []crdschema.Kind // of the values on either side; messages name the first
	// The functions get values of those kinds, never null. They return false for a value that they
	// cannot convert.
	encode, decode func(text []byte, to *crdschema.Node) (jsondoc.Value, bool)
	// Injective says that the other function restores whatever this one accepts, total that it
	// accepts all values.
	encodeInjective, decodeInjective, encodeTotal bool
}

// stringCodec has a form for each type. The first that fits both places counts.
const stringCodec = "String"

// codecs returns all codecs.
func codecs() []codec {
	str, text := []crdschema.Kind{crdschema.String}, []crdschema.Kind{crdschema.String, crdschema.IntOrString}
	integer := []crdschema.Kind{crdschema.Integer, crdschema.IntOrString}
	return []codec{
		{
			name: stringCodec, plain: integer, encoded: text, encode: encodeInt, decode: decodeInt,
			encodeInjective: true, decodeInjective: true, encodeTotal: true,
		},
		{
			name: stringCodec, plain: []crdschema.Kind{crdschema.Number}, encoded: text,
			encode: encodeNumber, decode: decodeNumber, encodeTotal: true,
		},
		{
			name: stringCodec, plain: []crdschema.Kind{crdschema.Boolean}, encoded: str, encode: encodeBool, decode: decodeBool,
			encodeInjective: true, decodeInjective: true, encodeTotal: true,
		},
		{
			name: "DurationSeconds", plain: []crdschema.Kind{crdschema.Integer, crdschema.Number}, encoded: str,
			encode: encodeSeconds, decode: decodeSeconds, encodeInjective: true, encodeTotal: true,
		},
		{
			name: "DurationNanoseconds", plain: []crdschema.Kind{crdschema.Integer}, encoded: str,
			encode: encodeNanoseconds, decode: decodeNanoseconds, encodeInjective: true, encodeTotal: true,
		},
		{
			name: "QuantityInt", plain: integer, encoded: text, encode: encodeQuantity, decode: decodeQuantity,
			encodeInjective: true, encodeTotal: true,
		},
		{name: "JSON", plain: structured(), encoded: str, encode: encodeJSON, decode: decodeJSON, encodeTotal: true},
		{name: "YAML", plain: structured(), encoded: str, encode: encodeYAML, decode: decodeYAML, encodeTotal: true},
		{
			name: "Base64", plain: str, encoded: str, encode: encodeBase64, decode: decodeBase64,
			encodeInjective: true,
		},
	}
}

// Codecs returns the names of all codecs.
func Codecs() []string {
	var names []string
	for _, k := range codecs() {
		if !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

// structured returns the kinds that JSON and YAML can write.
func structured() []crdschema.Kind {
	return []crdschema.Kind{
		crdschema.Object, crdschema.Map, crdschema.Array, crdschema.Any, crdschema.Integer, crdschema.Number,
		crdschema.Boolean, crdschema.IntOrString, crdschema.String,
	}
}

// codec compiles `codec`.
func (c *compiler) codec() Transform {
	if !c.singles() {
		return Transform{} // the parser reports it
	}
	k, plain, encoded := c.chooseCodec()
	if k == nil {
		return Transform{}
	}
	encode, decode := k.ways(plain.node(), encoded.node())
	if plain == &c.spoke {
		return c.checked(encode, decode)
	}
	return c.checked(decode, encode)
}

// chooseCodec returns the codec of that name whose types fit, with its plain and its encoded side.
// It returns nil if there is none.
func (c *compiler) chooseCodec() (k *codec, plain, encoded *side) {
	name := c.rule.Codec.Value
	named := slices.DeleteFunc(codecs(), func(k codec) bool { return k.name != name })
	if len(named) == 0 {
		c.sayNoCodec()
		return nil, nil, nil
	}
	for i := range named {
		if plain, encoded := c.orient(&named[i]); plain != nil {
			return &named[i], plain, encoded
		}
	}
	takes := named[0].plain[0].String()
	if name == stringCodec {
		takes = "an integer, a number or a boolean"
	}
	spoke, hub := c.spoke.node(), c.hub.node()
	c.say(c.rule.Codec.Pos, "codec-types", "choose another codec, or toHub and toSpoke",
		"codec %s is for %s and %s: %s is %s, %s is %s", name, takes, named[0].encoded[0],
		c.spoke.path(0), spoke.Kind(), c.hub.path(0), hub.Kind())
	return nil, nil, nil
}

// sayNoCodec reports a name that no codec has.
func (c *compiler) sayNoCodec() {
	name, names := c.rule.Codec.Value, Codecs()
	hint := didyoumean.Hint(name, names, "the codecs are "+List(names))
	switch name { // of v1alpha1
	case "IntString", "NumberString", "BoolString":
		hint = "write codec: " + stringCodec
	case "Not":
		hint = "write values: {true: false, false: true}"
	}
	c.sayText(c.rule.Codec, 0, len(name), "no-such-codec", hint, "there is no codec %.64s", name)
}

// orient returns the plain and the encoded side, by their types or the format byte, or nil if the
// codec fits in neither order. If both orders fit, the spoke is the plain side.
func (c *compiler) orient(k *codec) (plain, encoded *side) {
	spoke, hub := c.spoke.node(), c.hub.node()
	forth, back := isOneOf(spoke, k.plain) && isOneOf(hub, k.encoded), isOneOf(hub, k.plain) && isOneOf(spoke, k.encoded)
	if forth && back && preferred(hub, spoke, k) > preferred(spoke, hub, k) {
		forth = false
	}
	switch {
	case forth:
		return &c.spoke, &c.hub
	case back:
		return &c.hub, &c.spoke
	}
	return nil, nil
}

// isOneOf reports whether a place may hold one of the kinds.
func isOneOf(n *crdschema.Node, kinds []crdschema.Kind) bool {
	return n == nil || n.Kind() == crdschema.Any || slices.Contains(kinds, n.Kind())
}

// textIsOneOf reports whether a value is of one of the kinds. Even where the schema allows any
// value, a codec takes only its own kinds.
func textIsOneOf(text []byte, kinds []crdschema.Kind) bool {
	is := func(of ...crdschema.Kind) bool {
		return slices.ContainsFunc(kinds, func(k crdschema.Kind) bool { return k == crdschema.Any || slices.Contains(of, k) })
	}
	switch text[0] {
	case '"':
		return is(crdschema.String, crdschema.IntOrString)
	case '{':
		return is(crdschema.Object, crdschema.Map)
	case '[':
		return is(crdschema.Array)
	case 't', 'f':
		return is(crdschema.Boolean)
	}
	return is(crdschema.Integer, crdschema.Number, crdschema.IntOrString)
}

// preferred scores how well two places fit as the plain and the encoded one.
func preferred(plain, encoded *crdschema.Node, k *codec) int {
	score := 0
	if plain.Kind() == k.plain[0] && k.plain[0] != k.encoded[0] {
		score++
	}
	if encoded.Kind() == crdschema.String && plain.Kind() != crdschema.String {
		score++
	}
	if k.name == "Base64" && encoded.Format() == "byte" && plain.Format() != "byte" {
		score++
	}
	return score
}

var errNullValue = errors.New("null is not allowed on both sides")

// ways returns the two directions. A null stays null if both sides allow it.
func (k *codec) ways(plain, encoded *crdschema.Node) (encode, decode *Way) {
	way := func(f func([]byte, *crdschema.Node) (jsondoc.Value, bool), kinds []crdschema.Kind, from, to *crdschema.Node) *Way {
		return &Way{run: func(_ *Call, in, out []Operand) error {
			text := in[0].Value.Text()
			if text[0] == 'n' {
				if to != nil && !to.Nullable() || from != nil && !from.Nullable() {
					return errNullValue
				}
				out[0] = in[0]
				return nil
			}
			if !Admits(from, text) || !textIsOneOf(text, kinds) {
				return errWrongForm
			}
			v, ok := f(text, to)
			if !ok {
				return errWrongForm
			}
			out[0] = Operand{Value: v, Present: true}
			return nil
		}}
	}
	encode, decode = way(k.encode, k.plain, plain, encoded), way(k.decode, k.encoded, encoded, plain)
	encode.Injective, decode.Injective = k.encodeInjective, k.decodeInjective
	takesNull := !plain.Nullable() || encoded == nil || encoded.Nullable()
	whole := k.name != "DurationSeconds" || countable(plain)
	encode.Total = k.encodeTotal && whole && takesNull && plain != nil && len(encoded.Enum()) == 0
	if plain.Kind() == crdschema.Any || plain.Kind() == crdschema.IntOrString { // a codec takes only some of these
		encode.Total = encode.Total && slices.Equal(k.plain, structured())
	}
	// If the strings can be listed, it is known whether all can be decoded.
	values := domain(encoded)
	decode.Total = len(values) > 0 && !slices.ContainsFunc(values, func(value string) bool {
		in, out := []Operand{{Value: rawValue([]byte(value)), Present: true}}, []Operand{{}}
		return decode.Run(nil, in, out) != nil || !Admits(plain, out[0].Value.Text())
	})
	return encode, decode
}

// rawValue returns text that is known to be valid JSON as a value.
func rawValue(text []byte) jsondoc.Value {
	v, err := jsondoc.RawValue(text)
	if err != nil {
		return jsondoc.Value{}
	}
	return v
}

// SameValue reports whether two JSON texts are one value in two notations that a codec reads, such
// as "90s" and "1m30s". The comments of YAML are more than notation, and so are the digits of texts
// that are numbers: "1.10" may be a release.
func SameValue(a, b []byte) bool {
	if isNumeric(a) && isNumeric(b) {
		return false
	}
	return slices.ContainsFunc(codecs(), func(k codec) bool {
		if k.name == "YAML" || !textIsOneOf(a, k.encoded) || !textIsOneOf(b, k.encoded) {
			return false
		}
		x, readA := k.decode(a, nil)
		y, readB := k.decode(b, nil)
		return readA && readB && bytes.Equal(x.Text(), y.Text())
	})
}

// isNumeric reports whether a text is a string with nothing but a number.
func isNumeric(text []byte) bool {
	return len(text) > 0 && text[0] == '"' && validNumber(jsondoc.Unquote(text))
}
