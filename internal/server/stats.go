package server

// Stats is a snapshot of what is in progress.
type Stats struct {
	// Requests is the number of reviews in progress, Waiting of those among them that wait for their
	// share, or for a larger one.
	Requests, Waiting int
	// Bytes is what the requests in progress hold, BytesLimit the budget for that.
	Bytes, BytesLimit int64
	// Connections is the number of open connections of the webhook listener, ConnectionsLimit how many there may be.
	Connections, ConnectionsLimit int
}
