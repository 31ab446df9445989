module example.com/social/postview

go 1.22

require (
	github.com/bradfitz/gomemcache v0.0.0-20260422231931-4d751bb6e37c
	github.com/lib/pq v1.10.9
	golang.org/x/sync v0.10.0
)
