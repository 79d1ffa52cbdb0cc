// Package crdwire points CustomResourceDefinitions at a conversion webhook, offline in their text
// and in a cluster by server-side apply, and reports where they point. It posts test reviews as
// kube-apiserver does, so a CRD never points at a webhook that would not answer.
package crdwire
