package main

import (
	"time"

	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

// A workload is a load on a server: a number of clients that post the same review one request at a
// time.
type workload struct {
	name, title string
	clients     int
	requests    int
	objects     int
	size        int           // of each object, about, in bytes
	pause       time.Duration // after each request
	reconnect   bool          // each request has a connection of its own
}

// workloads are what performance is promised for. One object a request is what kube-apiserver
// sends.
func workloads() []workload {
	return []workload{
		{name: "S1", title: "one object of 0.4 KB, a body of 0.65 KB", clients: 1, requests: 6000, objects: 1, size: 400},
		{name: "S1c16", title: "the same from 16 clients", clients: 16, requests: 16000, objects: 1, size: 400},
		{name: "R1", title: "one object of 4 KB", clients: 1, requests: 6000, objects: 1, size: 4300},
		{name: "L500", title: "500 objects of 4.3 KB", clients: 1, requests: 200, objects: 500, size: 4300},
		{name: "L500c16", title: "the same from 16 clients", clients: 16, requests: 320, objects: 500, size: 4300},
		{name: "B1", title: "one object of 1 MB", clients: 1, requests: 300, objects: 1, size: 1 << 20},
		{name: "I1", title: "one object of 0.4 KB every 5 ms", clients: 1, requests: 400, objects: 1, size: 400, pause: 5 * time.Millisecond},
		{name: "H1", title: "one object of 0.4 KB, each on a new connection", clients: 1, requests: 1000, objects: 1, size: 400, reconnect: true},
		{name: "H1000", title: "1,000 clients at once, each request on a new connection", clients: 1000, requests: 3000, objects: 1, size: 400, reconnect: true},
		{name: "C1000", title: "1,000 clients that keep their connections", clients: 1000, requests: 5000, objects: 1, size: 400},
	}
}

// connections returns how many connections the clients keep.
func (w workload) connections() int {
	if w.reconnect {
		return 0
	}
	return w.clients
}

func (w workload) body() []byte { return reviewtest.Body(w.objects, w.size) }
