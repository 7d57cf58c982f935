package file

import "github.com/mnemehq/mneme/core/op"

// examples are calls with the answers that a server gave, by operation.
func examples() map[string][]op.Example {
	return map[string][]op.Example{
		"files.upload": {
			{
				Name:       "two-files",
				Summary:    "Two files, of which one is empty",
				Parameters: map[string]string{"namespace": "home"},
				Body: "--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"garden.md\"\r\n" +
					"Content-Type: text/markdown\r\n\r\n# Garden\n\nThe hedge is cut in February.\r\n" +
					"--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"empty.txt\"\r\n\r\n\r\n" +
					"--part\r\nContent-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"kind\": \"guide\"}\r\n--part--\r\n",
				Answer: `{
				"namespace": "home", "written": 1, "unchanged": 0, "chunks": 1, "failed": 1, "searchable": true,
				"files": [
					{
						"name": "garden.md", "status": "read", "media_type": "text/markdown",
						"content_hash": "sha256:cfe25f97bd163098f599107e7779d2712492dab40ac08db09d9c771b227fc697",
							"title": "Garden",
						"documents": [{"id": "garden.md", "created": true, "unchanged": false, "chunks": 1}]
					},
					{
						"name": "empty.txt", "status": "failed",
						"error": {"code": "no_text", "message": "holds no text: it is empty"},
						"content_hash": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
						"documents": []
					}
				]
			}`,
			},
			{
				Name:       "accepted",
				Summary:    "Answer before the work is done",
				Parameters: map[string]string{"namespace": "home", "Prefer": "respond-async"},
				Status:     202,
				Body: "--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"prices.csv\"\r\n\r\n" +
					"Bag,Price\nsmall,4\n\r\n--part--\r\n",
				Answer: `{
				"id": "op_01a1ff70-c6f4-71bf-9034-55c94c5dfb56", "status": "queued", "done": 0, "total": 1, "failed": 0,
				"files": [
					{
						"name": "prices.csv", "status": "read", "media_type": "text/csv",
						"content_hash": "sha256:c76a825212f2368637654ab92762858ec86fb091a841a381a19b1da80a6e7546",
							"documents": [{"id": "prices.csv"}]
					}
				]
			}`,
			},
		},
		"formats.list": {
			{Name: "formats", Summary: "Formats", Answer: `{
				"formats": [{"media_type": "text/markdown", "name": "Markdown", "extensions": [".md", ".markdown"]}]
			}`},
		},
	}
}
