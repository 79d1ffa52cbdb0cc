// Package faultclasses_test holds classes.tsv to the repository: each class of fault that webhookd
// must withstand is there, with its behaviour, and each has a test that is there too. The classes
// come from incidents and advisories of conversion webhooks and similar servers.
package faultclasses_test
