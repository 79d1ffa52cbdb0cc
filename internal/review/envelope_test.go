package review_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/review"
)

// Parts of a valid review, for tests to combine.
const (
	kindPart    = `"kind":"ConversionReview"`
	versionPart = `"apiVersion":"` + reviewV1 + `"`
	uidPart     = `"uid":"` + uid + `"`
	desiredPart = `"desiredAPIVersion":"example.com/v1"`
	objectsPart = `"objects":[]`
	requestPart = `"request":{` + uidPart + `,` + desiredPart + `,` + objectsPart + `}`
)

func members(parts ...string) []byte { return []byte("{" + strings.Join(parts, ",") + "}") }

// withRequest returns a review whose request has these members.
func withRequest(parts ...string) []byte {
	return members(kindPart, versionPart, `"request":`+string(members(parts...)))
}

func deep(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// A body that is not JSON, not a review, or has no uid gets an HTTP error.
func TestEnvelopeRejected(t *testing.T) {
	t.Parallel()
	const (
		notJSON   = "body cannot be read, send a ConversionReview as JSON: "
		noReview  = "not a ConversionReview, send one: .kind"
		noVersion = "unknown review version, set conversionReviewVersions of the CRD to [v1] or [v1beta1]: .apiVersion"
		noRequest = "review without a request, send a ConversionRequest: .request"
		noUID     = "request without a uid, the answer could not be matched: .request.uid"
		longUID   = "longer than 1024 bytes, send the uid of the API server: .request.uid"
	)
	good := string(members(kindPart, versionPart, requestPart))
	tests := map[string]struct {
		body []byte
		want string
	}{
		"empty":                         {nil, notJSON + "unexpected end of the text: byte 0"},
		"white space":                   {[]byte(" \n"), notJSON + "unexpected end of the text: byte 2"},
		"text":                          {[]byte("hello"), notJSON + "unexpected character: byte 0"},
		"YAML":                          {[]byte("kind: ConversionReview\n"), notJSON + "unexpected character: byte 0"},
		"byte order mark":               {[]byte("\ufeff" + good), notJSON + "unexpected character: byte 0"},
		"UTF-16":                        {[]byte("\xff\xfe{\x00}\x00"), notJSON + "invalid UTF-8: byte 0"},
		"NUL":                           {[]byte("\x00"), notJSON + "unexpected character: byte 0"},
		"cut off":                       {[]byte(good[:len(good)-1]), notJSON + "unexpected end of the text: byte 172"},
		"comment":                       {[]byte("/**/" + good), notJSON + "unexpected character: byte 0"},
		"comma at the end":              {[]byte(good[:len(good)-1] + ",}"), notJSON + "unexpected character: byte 173"},
		"NaN":                           {members(kindPart, versionPart, requestPart, `"x":NaN`), notJSON + "unexpected character"},
		"control character in a string": {members("\"a\x01\":1"), notJSON + "unexpected character: byte 3"},
		"invalid UTF-8 in a string":     {members("\"a\xff\":1"), notJSON + "invalid UTF-8: byte 3"},
		"lone surrogate":                {members(`"\ud800":1`), notJSON + "invalid escape in a string: byte 2"},
		"two documents":                 {[]byte(good + good), notJSON + "data after the end of the document: byte 173"},
		"trailing text":                 {[]byte(good + "x"), notJSON + "data after the end of the document: byte 173"},
		"trailing NUL":                  {[]byte(good + "\x00"), notJSON + "data after the end of the document: byte 173"},

		"null":    {[]byte("null"), noReview},
		"array":   {[]byte("[" + good + "]"), noReview},
		"string":  {[]byte(`"ConversionReview"`), noReview},
		"number":  {[]byte("1"), noReview},
		"no name": {members(), noReview},

		"kind absent":        {members(versionPart, requestPart), noReview},
		"kind null":          {members(`"kind":null`, versionPart, requestPart), noReview},
		"kind of a number":   {members(`"kind":1`, versionPart, requestPart), noReview},
		"kind in lower case": {members(`"kind":"conversionreview"`, versionPart, requestPart), noReview},
		"another kind":       {members(`"kind":"AdmissionReview"`, versionPart, requestPart), noReview},
		"Kind":               {members(`"Kind":"ConversionReview"`, versionPart, requestPart), noReview},
		"kind with a space":  {members(`"kind":"ConversionReview "`, versionPart, requestPart), noReview},

		"apiVersion absent":      {members(kindPart, requestPart), noVersion},
		"apiVersion null":        {members(kindPart, `"apiVersion":null`, requestPart), noVersion},
		"apiVersion v2":          {members(kindPart, `"apiVersion":"apiextensions.k8s.io/v2"`, requestPart), noVersion},
		"apiVersion v1 alone":    {members(kindPart, `"apiVersion":"v1"`, requestPart), noVersion},
		"apiVersion of another":  {members(kindPart, `"apiVersion":"admission.k8s.io/v1"`, requestPart), noVersion},
		"apiversion":             {members(kindPart, `"apiversion":"`+reviewV1+`"`, requestPart), noVersion},
		"apiVersion of an array": {members(kindPart, `"apiVersion":["`+reviewV1+`"]`, requestPart), noVersion},

		"kind too long":       {members(`"kind":"`+strings.Repeat("x", 1<<20)+`"`, versionPart, requestPart), noReview},
		"apiVersion too long": {members(kindPart, `"apiVersion":"`+strings.Repeat("x", 1<<20)+`"`, requestPart), noVersion},
		"name too long":       {members(kindPart, versionPart, requestPart, `"`+strings.Repeat("x", 1<<10+1)+`":1`), notJSON + "name longer than 1024 bytes: byte 173"},
		"name too long below": {withRequest(uidPart, `"`+strings.Repeat(`\u0078`, 1<<10+1)+`":1`), notJSON + "name longer than 1024 bytes"},

		"request absent":      {members(kindPart, versionPart), noRequest},
		"request null":        {members(kindPart, versionPart, `"request":null`), noRequest},
		"request of an array": {members(kindPart, versionPart, `"request":[]`), noRequest},
		"Request":             {members(kindPart, versionPart, strings.Replace(requestPart, "request", "Request", 1)), noRequest},
		"response only":       {members(kindPart, versionPart, `"response":{`+uidPart+`}`), noRequest},

		"uid absent":      {withRequest(desiredPart, objectsPart), noUID},
		"uid empty":       {withRequest(`"uid":""`, desiredPart, objectsPart), noUID},
		"uid null":        {withRequest(`"uid":null`, desiredPart, objectsPart), noUID},
		"uid of a number": {withRequest(`"uid":1`, desiredPart, objectsPart), noUID},
		"uid of a list":   {withRequest(`"uid":["a"]`, desiredPart, objectsPart), noUID},
		"UID":             {withRequest(`"UID":"a"`, desiredPart, objectsPart), noUID},
		"uid too long":    {withRequest(`"uid":"`+strings.Repeat("x", 1<<10+1)+`"`, desiredPart, objectsPart), longUID},
		"uid far too long, in escapes": {
			withRequest(`"uid":"`+strings.Repeat(`\u0078`, 1<<20)+`"`, desiredPart, objectsPart), longUID,
		},
		"uid outside": {members(kindPart, versionPart, uidPart, `"request":{}`), noUID},

		"kind twice":             {members(kindPart, versionPart, requestPart, kindPart), notJSON + "duplicate name: byte 173"},
		"kind twice, escaped":    {members(kindPart, versionPart, requestPart, `"k\u0069nd":1`), notJSON + "duplicate name: byte 173"},
		"request twice":          {members(kindPart, versionPart, requestPart, requestPart), notJSON + "duplicate name: byte 173"},
		"unknown field twice":    {members(kindPart, versionPart, requestPart, `"x":1,"x":1`), notJSON + "duplicate name: byte 179"},
		"uid twice":              {withRequest(uidPart, uidPart), notJSON + "duplicate name"},
		"objects twice":          {withRequest(uidPart, objectsPart, objectsPart), notJSON + "duplicate name"},
		"uid twice, escaped":     {withRequest(uidPart, `"\u0075id":"other"`), notJSON + "duplicate name"},
		"object too deep":        {request(widget(`"spec":` + deep(512))), notJSON + "nested too deep, an object may have 512 levels"},
		"object far too deep":    {request(widget(`"spec":` + strings.Repeat("[", 1e6))), notJSON + "nested too deep, an object may have 512 levels"},
		"unknown field too deep": {members(kindPart, versionPart, requestPart, `"x":`+deep(515)), notJSON + "nested too deep, an object may have 512 levels"},
		"object cut off":         {withRequest(uidPart, desiredPart, `"objects":[{"a":}]`), notJSON + "unexpected character"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rejected(t, newReviewer(t, nothing, review.Hooks{}), tt.body)
			what, where, found := strings.Cut(tt.want, ": byte ")
			if strings.HasPrefix(what, notJSON) { // the rest are words of jsondoc
				what = notJSON
			}
			if !strings.HasPrefix(got, what) || found && !strings.HasSuffix(got, ": byte "+where) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A body with a uid gets an answer, whatever else its envelope has or lacks.
func TestEnvelopeAnswered(t *testing.T) {
	t.Parallel()
	object := named("a")
	converted := strings.Replace(object, "v1beta1", "v1", 1)
	objects := `"objects":[` + object + `]`
	tests := map[string]struct {
		body []byte
		want []string
	}{
		"as the API server sends it": {request(object), []string{converted}},
		"objects first": {
			members(`"request":`+string(members(objects, desiredPart, uidPart)), versionPart, kindPart), []string{converted},
		},
		"desiredAPIVersion between":       {withRequest(uidPart, objects, desiredPart), []string{converted}},
		"response with values":            {members(`"response":{"uid":"x","convertedObjects":[1]}`, kindPart, versionPart, requestPart), nil},
		"response with repeated names":    {members(`"response":{"uid":"x","uid":"y"}`, kindPart, versionPart, requestPart), nil},
		"response of a number":            {members(kindPart, versionPart, requestPart, `"response":1`), nil},
		"unknown fields":                  {members(`"a":[{}]`, kindPart, `"":null`, versionPart, requestPart), nil},
		"unknown fields in the request":   {withRequest(`"a":{"b":1}`, uidPart, desiredPart, objects), []string{converted}},
		"fields that differ in case only": {members(kindPart, `"Kind":"x","KIND":1`, versionPart, requestPart, `"Request":{}`), nil},
		"request fields in other cases":   {withRequest(uidPart, `"Uid":1,"Objects":[1]`, desiredPart, objects), []string{converted}},
		"names with escapes": {
			[]byte(`{"k\u0069nd":"Conversion\u0052eview","ap\u0069Version":"apiextensions.k8s.io\/v1","\u0072equest":` +
				string(members(uidPart, desiredPart, objects)) + `}`), []string{converted},
		},
		"objects empty":  {withRequest(uidPart, desiredPart, `"objects":[]`), nil},
		"objects null":   {withRequest(uidPart, desiredPart, `"objects":null`), nil},
		"objects absent": {withRequest(uidPart, desiredPart), nil},
		"white space":    {[]byte("\r\n\t " + string(members(kindPart, versionPart, " "+requestPart+"\n")) + "\n\n"), nil},
		"object just not deep": {request(widget(`"metadata":{}`, `"spec":`+deep(511))), []string{
			strings.Replace(widget(`"metadata":{}`, `"spec":`+deep(511)), "v1beta1", "v1", 1),
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, nothing, review.Hooks{}), tt.body)
			got.wantObjects(t, tt.want...)
			if got.uid != uid {
				t.Errorf("uid %q", got.uid)
			}
		})
	}
}

// An invalid request with a uid fails in a review, not with an HTTP error.
func TestEnvelopeFailed(t *testing.T) {
	t.Parallel()
	const (
		noDesired = "no version to convert to, set it to GROUP/VERSION: .request.desiredAPIVersion"
		noList    = ", not an array, send a list of objects: .request.objects"

		longDesired = "longer than 1024 bytes, set it to GROUP/VERSION: .request.desiredAPIVersion"
	)
	tests := map[string]struct {
		body []byte
		want string
	}{
		"desiredAPIVersion absent":   {withRequest(uidPart, objectsPart), noDesired},
		"desiredAPIVersion empty":    {withRequest(uidPart, `"desiredAPIVersion":""`, objectsPart), noDesired},
		"desiredAPIVersion null":     {withRequest(uidPart, `"desiredAPIVersion":null`, objectsPart), noDesired},
		"desiredAPIVersion a number": {withRequest(uidPart, `"desiredAPIVersion":1`, objectsPart), noDesired},
		"desiredAPIVersion too long": {withRequest(uidPart, `"desiredAPIVersion":"example.com/`+strings.Repeat("v", 1<<10)+`"`, objectsPart), longDesired},
		"no group":                   {withRequest(uidPart, `"desiredAPIVersion":"v1"`, objectsPart), noDesired},
		"empty group":                {withRequest(uidPart, `"desiredAPIVersion":"/v1"`, objectsPart), noDesired},
		"empty version":              {withRequest(uidPart, `"desiredAPIVersion":"example.com/"`, objectsPart), noDesired},
		"two slashes":                {withRequest(uidPart, `"desiredAPIVersion":"a/b/c"`, objectsPart), noDesired},
		"DesiredAPIVersion":          {withRequest(uidPart, `"DesiredAPIVersion":"example.com/v1"`, objectsPart), noDesired},
		"with objects":               {withRequest(uidPart, `"objects":[`+named("a")+`]`), noDesired},
		"objects of an object":       {withRequest(uidPart, desiredPart, `"objects":{}`), "is an object" + noList},
		"objects of a string":        {withRequest(uidPart, desiredPart, `"objects":"[]"`), "is a string" + noList},
		"objects of a number":        {withRequest(uidPart, desiredPart, `"objects":0`), "is a number" + noList},
		"objects of a boolean":       {withRequest(uidPart, desiredPart, `"objects":false`), "is a boolean" + noList},
		"more objects than are taken": {
			withRequest(uidPart, desiredPart, `"objects":[1`+strings.Repeat(",1", 1<<17)+`]`),
			"more than 131072 objects, send fewer at once: .request.objects",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, nothing, review.Hooks{}), tt.body)
			got.wantFailed(t)
			if got.message != tt.want {
				t.Errorf("message %q, want %q", got.message, tt.want)
			}
		})
	}
}

// The answer echoes the request's version, and its uid byte for byte; so is the version set in
// objects.
func TestEnvelopeLiteralsAreEchoed(t *testing.T) {
	t.Parallel()
	uids := map[string]string{
		"uuid": `"` + uid + `"`, "letters": `"a"`, "escapes": `"\u0061\/\t\"<>&\u003c"`, "not ASCII": `"ü\u00fc😀\ud83d\ude00"`,
		"control characters": `"\u0000\u001b[31m\r\n"`, "long": `"` + strings.Repeat(`\u0078`, 1<<10) + `"`, "DEL": "\"\x7f\u2028\"",
	}
	for name, literal := range uids {
		t.Run("uid/"+name, func(t *testing.T) {
			t.Parallel()
			for _, version := range []string{reviewV1, reviewV1beta1} {
				body := members(kindPart, `"apiVersion":"`+version+`"`, `"request":{"uid":`+literal+`,`+desiredPart+`,"objects":[1]}`)
				text, err := newReviewer(t, nothing, review.Hooks{}).Review(t.Context(), nil, body)
				if err != nil {
					t.Fatal(err)
				}
				want := `{"kind":"ConversionReview","apiVersion":"` + version + `","response":{"uid":` + literal + `,"convertedObjects":[]`
				if !strings.HasPrefix(string(text), want) {
					t.Errorf("answer %.200s\ndoes not start with %.200s", text, want)
				}
			}
		})
	}
	t.Run("desiredAPIVersion", func(t *testing.T) {
		t.Parallel()
		const literal = `"example\u002ecom\/v1"`
		body := withRequest(uidPart, `"desiredAPIVersion":`+literal, `"objects":[`+widget(`"metadata":{}`)+`,{"apiVersion":"example.com/v1","kind":"X"}]`)
		ask(t, newReviewer(t, nothing, review.Hooks{}), body).wantObjects(t,
			`{"apiVersion":`+literal+`,"kind":"Widget","metadata":{}}`, `{"apiVersion":"example.com/v1","kind":"X"}`)
	})
}

// A reviewer remembers the names of a request for the next one; it must not confuse a literal with
// escapes and its text.
func TestEnvelopeNamesAreNotMixedUp(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, nothing, review.Hooks{})
	for range 3 {
		for _, kind := range []string{`Widget`, `W\u0069dget`, `W\\u0069dget`, `W\u0069dget`, `Wi\u0064get`, `widget`, ``, `W`} {
			body := request(`{"apiVersion":"example.com/v1beta1","kind":"` + kind + `","metadata":{}}`)
			got := ask(t, r, body)
			if want := kind == `Widget` || kind == `W\u0069dget` || kind == `Wi\u0064get`; want != (got.status == "Success") {
				t.Errorf("kind %s: %s %s", kind, got.status, got.message)
			}
		}
	}
}
