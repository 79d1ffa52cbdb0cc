// Package crdguard renders admission policies for the kinds of CustomResourceDefinitions: the guard of what webhookd keeps in
// annotations, and the gate that refuses an object that cannot be converted. The API server enforces them; webhookd has no
// part in it.
//
// The text of the policies is policies.tpl, which the Helm chart has too, so that both make the same.
package crdguard
