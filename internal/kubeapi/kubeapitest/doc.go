// Package kubeapitest is a Kubernetes API for tests: it keeps objects in memory, and knows reading, creating, JSON merge
// patches and server-side apply with the field managers of the API server's own package. It does not validate objects.
package kubeapitest
