package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"

	"github.com/crdconvert/webhookd/bench/measure"
)

// The servers, by their index.
const (
	ours = iota
	theirs
	servers
)

// A size is how many objects a review has, and how many reviews a round posts.
type size struct{ objects, requests int }

func sizes() [2]size { return [2]size{{objects: 1, requests: 1000}, {objects: 50, requests: 40}} }

// A load is a conversion of one object in one direction: one a request, and a list of copies.
type load struct {
	kind, object, direction string
	work                    string
	bytes                   int // of the object that webhookd gets
	bodies                  [2][servers][]byte
	cpu                     [2][servers][]time.Duration // a request, by the rounds
}

type bench struct {
	client  *http.Client
	servers [servers]*measure.Process
}

func (b *bench) stop() {
	for _, s := range b.servers {
		if s != nil {
			s.Stop()
		}
	}
}

// loads returns the loads of a kind: each object there and back. Both servers get the same object
// there. Back, each gets its own answer, as the API server sends it: with what it has kept.
func (b *bench) loads(ctx context.Context, k kind) ([]*load, error) {
	var all []*load
	for _, name := range []string{"plain", "kept"} {
		object, err := k.object(name)
		if object == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		from, to := k.hub, k.spoke
		if object["apiVersion"] == k.spoke {
			from, to = k.spoke, k.hub
		}
		there := &load{kind: fmt.Sprint(object["kind"]), object: name, direction: path.Base(from) + " to " + path.Base(to), work: k.work()}
		back := &load{kind: there.kind, object: name, direction: path.Base(to) + " to " + path.Base(from), work: k.work()}
		for i, size := range sizes() {
			texts, err := copies(object, size.objects)
			if err != nil {
				return nil, err
			}
			for s := range servers {
				there.bodies[i][s] = reviewtest.Review("apiextensions.k8s.io/v1", to, texts...)
				answers, err := b.answers(ctx, s, there.bodies[i][s])
				if err != nil {
					return nil, fmt.Errorf("%s of %s to %s: %w", name, k.name, to, err)
				}
				back.bodies[i][s] = reviewtest.Review("apiextensions.k8s.io/v1", from, answers...)
				if _, err := b.answers(ctx, s, back.bodies[i][s]); err != nil {
					return nil, fmt.Errorf("%s of %s back to %s: %w", name, k.name, from, err)
				}
				if i == 0 && s == ours {
					there.bytes, back.bytes = len(texts[0]), len(answers[0])
					if bytes.Contains(answers[0], []byte(annotation.Prefix)) {
						there.work, back.work = there.work+", kept", back.work+", kept"
					}
				}
			}
		}
		all = append(all, there, back)
	}
	return all, nil
}

// answers posts a review, once the server is there, and returns the converted objects as the API
// server sends them.
func (b *bench) answers(ctx context.Context, server int, body []byte) ([][]byte, error) {
	var text []byte
	if err := measure.WaitFor(ctx, func() (err error) {
		text, err = measure.Answer(ctx, b.client, b.servers[server].Address, body)
		return err
	}); err != nil {
		return nil, err
	}
	var review struct {
		Response struct {
			ConvertedObjects []json.RawMessage `json:"convertedObjects"`
			Result           struct {
				Message string `json:"message"`
			} `json:"result"`
		} `json:"response"`
	}
	if err := json.Unmarshal(text, &review); err != nil {
		return nil, err
	}
	if len(review.Response.ConvertedObjects) == 0 {
		return nil, fmt.Errorf("no objects: %s", review.Response.Result.Message)
	}
	objects := make([][]byte, 0, len(review.Response.ConvertedObjects))
	for _, raw := range review.Response.ConvertedObjects {
		object, err := decode(raw)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		objects = append(objects, text)
	}
	return objects, nil
}

// measure posts a load to both servers, one after the other, and in the other order in the next
// round.
func (b *bench) measure(ctx context.Context, l *load, round int, scale float64) error {
	for i, size := range sizes() {
		requests := max(1, int(float64(size.requests)*scale))
		for turn := range servers {
			s := (round + turn) % servers
			post := func() error { return measure.Post(ctx, b.client, b.servers[s].Address, l.bodies[i][s], true) }
			if _, err := measure.Load(1, max(1, requests/10), 0, post); err != nil {
				return err
			}
			before, err := b.servers[s].CPU()
			if err != nil {
				return err
			}
			if _, err := measure.Load(1, requests, 0, post); err != nil {
				return err
			}
			after, err := b.servers[s].CPU()
			if err != nil {
				return err
			}
			l.cpu[i][s] = append(l.cpu[i][s], (after-before)/time.Duration(requests))
		}
	}
	return nil
}
