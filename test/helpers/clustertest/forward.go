package clustertest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"path"
	"sync"

	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// forward does what the API server and the kubelet do for a port-forward, and reports whether a
// request is one that is allowed.
func (s *Server) forward(w http.ResponseWriter, r *http.Request) bool {
	pod, is := path.Split(r.URL.Path)
	if is != "portforward" || r.Method != http.MethodPost {
		return false
	}
	if !s.mayForward(path.Clean(pod), r) {
		return false // ServeHTTP refuses it
	}
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return true
	}
	streams := make(chan httpstream.Stream, 2)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if connection == nil {
		return true
	}
	defer func() { _ = connection.Close() }()
	var data, problems httpstream.Stream
	for range 2 {
		select {
		case stream := <-streams:
			if stream.Headers().Get("streamType") == "data" {
				data = stream
			} else {
				problems = stream
			}
		case <-connection.CloseChan():
			return true
		}
	}
	address := s.Listeners[path.Base(path.Clean(pod))+":"+data.Headers().Get("port")]
	if err := pipe(r, address, data); err != nil {
		_, _ = io.WriteString(problems, err.Error())
	}
	_ = problems.Close()
	_ = data.Close()
	<-connection.CloseChan()
	return true
}

func (s *Server) mayForward(pod string, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[pod] == nil || s.refuse("create", r.URL.Path, r) != nil {
		return false
	}
	s.requests = append(s.requests, "create "+r.URL.Path)
	return true
}

// pipe copies between a stream and a listener.
func pipe(r *http.Request, address string, stream httpstream.Stream) error {
	if address == "" {
		return errors.New("nothing listens there")
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(r.Context(), "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	var group sync.WaitGroup
	group.Go(func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.Close()
	})
	_, _ = io.Copy(stream, conn)
	_ = stream.Reset()
	group.Wait()
	return nil
}
