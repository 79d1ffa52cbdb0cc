// Package build makes the binaries of a control plane from their modules: etcd, kube-apiserver,
// kube-controller-manager, kubectl and helm, at the versions that binaries/go.mod pins. They are
// kept in a cache folder, so that they are built once.
package build
