package main

import "encoding/base64"

func base64Text(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
