// Package crdwire points CustomResourceDefinitions at a conversion webhook, offline in their text and in a cluster by
// server-side apply, and tells what they point at. It posts test reviews as kube-apiserver posts its own, so that a CRD is
// never pointed at what would not answer.
package crdwire
