// Package crdguard renders admission policies for the kinds of CustomResourceDefinitions: the guard
// of the values that webhookd keeps in annotations, and the gate that refuses objects that cannot
// be converted. The API server enforces them; webhookd takes no part.
//
// The text of the policies is policies.tpl. The Helm chart has a copy, so both render the same.
package crdguard
