// Package review is the verb review: it answers a ConversionReview, or posts one to a webhook.
package review
