// Package outbound is the HTTP client for what is fetched by a URL that came from
// outside: the metadata document of an OAuth client, and whatever else a caller may
// name. Such a URL must not become a way into the operator's own network, and what
// answers it must not be able to hold the server up or fill its memory.
package outbound
