package hostile

import "slices"

// The sets. Figures has how many cases each must have at least.
const (
	Syntax    = "A1" // documents: as the body, as an object, as a value of a field
	Transform = "A2" // what the text of a value is after a conversion
	Envelope  = "A3"
	Objects   = "A4"
	Numbers   = "A5"
	Strings   = "A6"
	Sizes     = "A7"
	Raw       = "A8" // bytes on a connection
	TLS       = "A9"
	Files     = "A10"
)

// A Figure says how many cases a set must have.
type Figure struct {
	Set   string
	Cases int
}

// Figures returns the sets in their order.
func Figures() []Figure {
	return []Figure{
		{Syntax, 318},
		{Transform, 22},
		{Envelope, 80},
		{Objects, 54},
		{Numbers, 40},
		{Strings, 40},
		{Sizes, 24},
		{Raw, 48},
		{TLS, 32},
		{Files, 36},
	}
}

// Canary is in the values of fields, in labels and annotations, in headers and in queries. It must
// never be in a log, in a metric or in the message of an answer.
const Canary = "canary-5b1f0c7a9e42"

// A Case is a request to a webhook that has the compiled-in CronTab of example.com, and the answer
// that it gets.
type Case struct {
	Set string
	// Name is that of the case. Position tells apart the requests of one case, such as the places
	// where a document can be; it is empty where there is only one.
	Name, Position string

	Request Request
	Want    Answer
	// Own are cases about what webhookd alone has: rules (the kind of RuledCRD) and kept values.
	Own bool
	// Unsettled are cases where RFC 8259 or the protocol leave the answer open: webhookd has one,
	// others may have another.
	Unsettled bool
}

// Path returns SET/NAME/POSITION.
func (c *Case) Path() string {
	path := c.Set + "/" + c.Name
	if c.Position != "" {
		path += "/" + c.Position
	}
	return path
}

// A Request is what is sent over HTTP/1.1.
type Request struct {
	Method string // POST if empty
	Target string // DefaultTarget if empty
	// Header are lines of the header other than Host and the body's length: NAME: VALUE. Nil:
	// DefaultHeader.
	Header []string
	Body   Text
	// Length is what Content-Length says, where it is not the body's. The client ends its side of
	// the connection behind the body if that is shorter.
	Length int64
	// Chunked sends the body in chunks and without its length.
	Chunked bool
}

// A Text makes a text, each time the same. Large ones need not all be in memory at once.
type Text func() string

// DefaultTarget is what kube-apiserver asks for, with a parameter that means nothing to webhookd.
const DefaultTarget = "/crdconvert?timeout=30s&x=" + Canary

// DefaultHeader returns the header of an ordinary request, with secrets in it.
func DefaultHeader() []string {
	return []string{"Content-Type: application/json", "Authorization: Bearer " + Canary, "X-Secret: " + Canary}
}

// A Result is what an answer is.
type Result string

// The kinds of answers.
const (
	Success Result = "Success" // a review with all objects
	Failed  Result = "Failed"  // a review without objects, and a message
	Status  Result = "Status"  // another code than 200, and a metav1.Status
	Plain   Result = "Plain"   // what net/http says itself, as text
	Nothing Result = "Nothing" // no answer: the connection is closed
)

// An Answer is what must come back.
type Answer struct {
	Code   int
	Result Result
	Reason string // of a Status: the metav1.StatusReason
	// Message is part of the message of a review, a Status or a text.
	Message string
	// Whole is the body of a success, byte for byte.
	Whole Text
	// Closed: the connection ends with this answer. Otherwise it serves another request.
	Closed bool

	// Counters are how much webhookd's counters grow, by name and labels as /metrics writes them.
	// What is not here must not grow.
	Counters map[string]float64
	// Line is the msg of the one line that the log has of the request; empty: none.
	Line string
	// Objects and Failed are fields of that line, and UID is, where it is not the request's.
	Objects, Failed int
	UID             string
}

// Count returns how many cases of a set there are; positions of one case count once.
func Count(cases []Case, set string) int {
	var names []string
	for i := range cases {
		if cases[i].Set == set {
			names = append(names, cases[i].Name)
		}
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}

// Cases returns the cases of the sets A1 to A7, set by set.
func Cases() []Case {
	return slices.Concat(syntaxCases(), transformCases(), envelopeCases(), objectCases(), numberCases(), stringCases(), sizeCases())
}
