package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Pages are as large as one request can comfortably be, whatever the objects: the first is small,
// and each next one is sized by what the last one took.
const (
	firstPage = 50
	maxPage   = 500 // that of kubectl
	pageBytes = 4 << 20
	pageTime  = time.Second // of an API server that calls a webhook for each object
)

// A Page is a part of a collection.
type Page struct {
	Objects []json.RawMessage
	// Left is how many objects follow this page, about; -1 if the API server does not say.
	Left int64
}

// CollectionPath returns the path of the objects of a resource, for List: those of a namespace, or
// of all namespaces if it is empty. A resource without a namespace has an empty one.
func CollectionPath(r schema.GroupVersionResource, namespace string) string {
	path := "/apis/" + r.Group
	if r.Group == "" {
		path = "/api"
	}
	path += "/" + r.Version
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + r.Resource
}

// List calls each with the objects of a collection, page by page and in the order of the API
// server. It holds one page, of some megabytes. An error of each ends it.
//
// The pages show one moment, unless reading them takes longer than the API server keeps its
// history, which is five minutes by default. Then the rest is as it is now: an object that was
// created or deleted meanwhile may be there or not, but none comes twice.
func (c *Client) List(ctx context.Context, path string, each func(Page) error) error {
	limit, next, expired := int64(firstPage), "", false
	for {
		var answer struct {
			Metadata struct {
				Continue  string `json:"continue"`
				Remaining *int64 `json:"remainingItemCount"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		r := c.rest.Get().Param("limit", strconv.FormatInt(limit, 10))
		if next != "" {
			r.Param("continue", next)
		}
		begin := time.Now()
		err := c.do(ctx, r, "list", path, nil, &answer)
		if token := continueAnyway(err); token != "" && !expired {
			next, expired = token, true
			continue
		}
		if err != nil {
			return err
		}
		expired = false
		limit = nextLimit(answer.Items, time.Since(begin))
		page := Page{Objects: answer.Items, Left: -1}
		next = answer.Metadata.Continue
		switch {
		case next == "":
			page.Left = 0
		case answer.Metadata.Remaining != nil:
			page.Left = *answer.Metadata.Remaining
		}
		if err := each(page); err != nil || next == "" {
			return err
		}
	}
}

// First returns the first object of a collection; nil if there is none. The error is the API
// server's first one, such as that of a webhook that it waits for.
func (c *Client) First(ctx context.Context, path string) (json.RawMessage, error) {
	config := rest.CopyConfig(c.config)
	config.Timeout = longest
	slow, err := newClient(config)
	if err != nil {
		return nil, err
	}
	slow.once = true
	var answer struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := slow.do(ctx, slow.rest.Get().Param("limit", "1"), "list", path, nil, &answer); err != nil || len(answer.Items) == 0 {
		return nil, err
	}
	return answer.Items[0], nil
}

// continueAnyway returns the token with which the API server goes on after its history ended; empty
// if the error is another one.
func continueAnyway(err error) string {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && apierrors.IsResourceExpired(err) {
		return status.ErrStatus.Continue
	}
	return ""
}

// nextLimit returns the number of objects of the next page, from the last one.
func nextLimit(objects []json.RawMessage, took time.Duration) int64 {
	bytes := 1
	for _, object := range objects {
		bytes += len(object)
	}
	factor := min(float64(pageBytes)/float64(bytes), float64(pageTime)/float64(took+1))
	return int64(min(max(float64(len(objects))*factor, 1), maxPage))
}
