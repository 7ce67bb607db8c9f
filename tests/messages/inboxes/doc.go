// Package inboxes tries what publishers and workers can do to an inbox together.
package inboxes
