package cluster

import (
	"encoding/json"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Through returns a client that sends its requests by other means than a network.
func (c *Client) Through(transport http.RoundTripper) (*Client, error) {
	config := rest.CopyConfig(c.config)
	config.Transport = transport
	return newClient(config)
}

// NextLimit is nextLimit.
func NextLimit(objects []json.RawMessage, took time.Duration) int64 { return nextLimit(objects, took) }
