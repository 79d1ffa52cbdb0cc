// Package faultclasses_test holds docs/contributing/fault-classes.md to the repository: each class
// of fault that webhookd must withstand is there, and each has a test that is there too.
package faultclasses_test
