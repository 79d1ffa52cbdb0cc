package transform

import (
	"errors"
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/didyoumean"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A codec is one value in two forms: plain, and encoded in a string (for DurationSeconds and QuantityInt, the string is the
// encoded form, too). The functions are given no nulls.
type codec struct {
	name           string
	plain, encoded []crdschema.Kind // what the schemas may have there; the first is what is hinted at
	encode, decode func(text []byte, to *crdschema.Node) (jsondoc.Value, error)
	// Whether the other function gives exactly back what this one took, wherever it took it, and whether it takes all.
	encodeInjective, decodeInjective, encodeTotal bool
}

// codecs returns all codecs. It is a function as a package has no variables.
func codecs() []codec {
	str, text := []crdschema.Kind{crdschema.String}, []crdschema.Kind{crdschema.String, crdschema.IntOrString}
	integer := []crdschema.Kind{crdschema.Integer, crdschema.IntOrString}
	flag := []crdschema.Kind{crdschema.Boolean}
	return []codec{
		{
			name: "Not", plain: flag, encoded: flag, encode: not, decode: not,
			encodeInjective: true, decodeInjective: true, encodeTotal: true,
		},
		{
			name: "IntString", plain: integer, encoded: text, encode: encodeInt, decode: decodeInt,
			encodeInjective: true, decodeInjective: true, encodeTotal: true,
		},
		{
			name: "NumberString", plain: []crdschema.Kind{crdschema.Number, crdschema.Integer}, encoded: text,
			encode: encodeNumber, decode: decodeNumber, encodeTotal: true,
		},
		{
			name: "BoolString", plain: flag, encoded: str, encode: encodeBool, decode: decodeBool,
			encodeInjective: true, decodeInjective: true, encodeTotal: true,
		},
		{
			name: "DurationSeconds", plain: []crdschema.Kind{crdschema.Integer, crdschema.Number}, encoded: str,
			encode: encodeSeconds, decode: decodeSeconds, encodeInjective: true, encodeTotal: true,
		},
		{
			name: "QuantityInt", plain: integer, encoded: text, encode: encodeQuantity, decode: decodeQuantity,
			encodeInjective: true, encodeTotal: true,
		},
		{name: "JSON", plain: structured(), encoded: str, encode: encodeJSON, decode: decodeJSON, encodeTotal: true},
		{name: "YAML", plain: structured(), encoded: str, encode: encodeYAML, decode: decodeYAML, encodeTotal: true},
		{
			name: "Base64", plain: str, encoded: str, encode: encodeBase64, decode: decodeBase64,
			encodeInjective: true, encodeTotal: true,
		},
	}
}

// structured is what can be written as a text of its own.
func structured() []crdschema.Kind {
	return []crdschema.Kind{
		crdschema.Object, crdschema.Map, crdschema.Array, crdschema.Any, crdschema.Integer, crdschema.Number,
		crdschema.Boolean, crdschema.IntOrString, crdschema.String,
	}
}

// codec compiles `codec`.
func (c *compiler) codec() Transform {
	if !c.singles() {
		return nil // the parser says so
	}
	all := codecs()
	i := slices.IndexFunc(all, func(k codec) bool { return k.name == c.rule.Codec.Value })
	if i < 0 {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].name
		}
		hint := didyoumean.Hint(c.rule.Codec.Value, names, "")
		if hint == "" {
			hint = "the codecs are " + list(names)
		}
		c.sayText(c.rule.Codec, 0, len(c.rule.Codec.Value), "no-such-codec", hint, "there is no codec %.64s", c.rule.Codec.Value)
		return nil
	}
	k := &all[i]
	plain, encoded, ok := c.orient(k)
	if !ok {
		return nil
	}
	encode, decode := k.ways(plain.node(), encoded.node())
	if plain == &c.field {
		return c.oneWays(encode, decode)
	}
	return c.oneWays(decode, encode)
}

// orient tells which side is the plain one: the types say so, or the format byte; where both orders fit, it is the field.
func (c *compiler) orient(k *codec) (plain, encoded *side, ok bool) {
	field, hub := c.field.node(), c.hub.node()
	forth, back := isOneOf(field, k.plain) && isOneOf(hub, k.encoded), isOneOf(hub, k.plain) && isOneOf(field, k.encoded)
	if forth && back && preferred(hub, field, k) > preferred(field, hub, k) {
		forth = false
	}
	switch {
	case forth:
		return &c.field, &c.hub, true
	case back:
		return &c.hub, &c.field, true
	}
	c.say(c.rule.Codec.Pos, "codec-types", "choose another codec, or toHub and fromHub",
		"codec %s is for %s and %s: %s is %s, %s is %s", k.name, k.plain[0], k.encoded[0],
		c.field.path(0), field.Kind(), c.hub.path(0), hub.Kind())
	return nil, nil, false
}

// isOneOf reports whether a place has one of the kinds; an unknown one may have any.
func isOneOf(n *crdschema.Node, kinds []crdschema.Kind) bool {
	return n == nil || n.Kind() == crdschema.Any || slices.Contains(kinds, n.Kind())
}

// textIsOneOf reports whether a value is of one of the kinds. Where a schema admits anything, a codec takes what it is for.
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

// preferred says how well two places fit as the plain and the encoded one.
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

var errNullValue = errors.New("null is no value of both sides")

// ways makes the two directions. A null is a null on the other side, if that has one.
func (k *codec) ways(plain, encoded *crdschema.Node) (encode, decode oneWay) {
	way := func(f func([]byte, *crdschema.Node) (jsondoc.Value, error), kinds []crdschema.Kind, from, to *crdschema.Node) oneWay {
		return oneWay{run: func(_ *Call, in, out []Operand) error {
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
			v, err := f(text, to)
			if err == nil {
				out[0] = Operand{Value: v, Present: true}
			}
			return err
		}}
	}
	encode, decode = way(k.encode, k.plain, plain, encoded), way(k.decode, k.encoded, encoded, plain)
	encode.injective, decode.injective = k.encodeInjective, k.decodeInjective
	takesNull := !plain.Nullable() || encoded == nil || encoded.Nullable()
	whole := k.name != "DurationSeconds" || countable(plain)
	encode.total = k.encodeTotal && whole && takesNull && plain != nil && len(encoded.Enum()) == 0
	if plain.Kind() == crdschema.Any || plain.Kind() == crdschema.IntOrString { // of which a codec takes some
		encode.total = encode.total && slices.Equal(k.plain, structured())
	}
	// A finite set of strings may be one that can all be decoded.
	values := domain(encoded)
	decode.total = len(values) > 0 && !slices.ContainsFunc(values, func(value string) bool {
		in, out := []Operand{{Value: mustValue(value), Present: true}}, []Operand{{}}
		return decode.run(nil, in, out) != nil || !Admits(plain, out[0].Value.Text())
	})
	return encode, decode
}

func mustValue(text string) jsondoc.Value {
	v, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		return jsondoc.Value{}
	}
	return v
}
