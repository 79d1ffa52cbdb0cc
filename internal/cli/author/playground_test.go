package author

import (
	"testing"
)

func TestPlaygroundListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:80": true, "[::1]:8080": true, "localhost:8080": true,
		"0.0.0.0:8080": false, ":8080": false, "[::]:0": false, "10.0.0.1:80": false, "example.com:80": false, "127.0.0.1": false,
		"localhost.example.com:80": false,
	} {
		if err := checkLoopback(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
