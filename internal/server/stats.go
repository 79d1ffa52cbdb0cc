package server

// Stats is a snapshot of what is in progress.
type Stats struct {
	// Requests is the number of reviews in progress, Waiting how many of them wait for their share
	// or for a larger one.
	Requests, Waiting int
	// Bytes is what the requests in progress hold, BytesLimit the budget for it.
	Bytes, BytesLimit int64
	// Connections is the number of open connections of the webhook listener, ConnectionsLimit its
	// bound.
	Connections, ConnectionsLimit int
}
