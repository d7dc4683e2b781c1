package redact

import (
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	t.Parallel()
	const m = Mask
	for _, tt := range []struct{ in, want string }{
		{"password=hunter2", "password=***"},
		{"password=correct-horse-battery", "password=" + m},
		{"DB_PASSWORD='correct horse battery'", "DB_PASSWORD='" + m + "'"},
		{"host=db password=abcdefghijk dbname=x", "host=db password=" + m + " dbname=x"},
		{"Password: hunter2hunter2", "Password: " + m},
		{`{"password": "correct horse"}`, `{"password": "` + m + `"}`},
		{`{\"api_key\":\"abcdefghijk\"}`, `{\"api_key\":\"` + m + `\"}`},
		{"Authorization: Bearer abc.def-ghi123", "Authorization: Bearer " + m},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic " + m},
		{`curl -H "Authorization: Bearer abcdefgh12345" -H "Accept: */*"`, `curl -H "Authorization: Bearer ` + m + `" -H "Accept: */*"`},
		{"Cookie: sid=1234; theme=dark\nAccept: x", "Cookie: " + m + "\nAccept: x"},
		{"Set-Cookie: sid=abcdef; HttpOnly", "Set-Cookie: " + m},
		{"X-Api-Key: abcd1234efgh", "X-Api-Key: " + m},
		{"https://bob:hunter22@example.com/x", "https://" + m + "@example.com/x"},
		{"https://x.org/v.mp4?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=0123456789abcdef&e=1", "https://x.org/v.mp4?X-Amz-Credential=***" + "&X-Amz-Signature=" + m + "&e=1"},
		{"no such file: gone/https:/bob:hunter22@example.com/x", "no such file: gone/https:/" + m + "@example.com/x"},
		{"https://x.org/v?token=abcdefghijkl#t=5", "https://x.org/v?token=" + m + "#t=5"},
		{"https://acc.blob.core/x?sv=2022&sig=abcdefghijkl%3D", "https://acc.blob.core/x?sv=2022&sig=" + m},
		{"u=https%3A%2F%2Fx%3Ftoken%3Dabcdefghijkl%26t%3D5", "u=https%3A%2F%2Fx%3Ftoken%3D" + m + "%26t%3D5"},
		{"https://t.example/0123456789abcdef0123456789abcdef/announce", "https://t.example/" + m + "/announce"},
		{"ghp_abcdefghijklmnopqrstuvwxyz0123456789 was used", m + " was used"},
		{"key AKIAIOSFODNN7EXAMPLE.", "key " + m + "."},
		{"sk-proj-abcdefghijklmnop1234", m},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", m + "\nrest"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", m},
		{"--password hunter22", "--password ***"},
		{"--token=abcdefghijkl", "--token=" + m},
		{"<password>correct horse</password>", "<password>" + m + "</password>"},
		{"API key: abcd1234efgh", "API key: " + m},
		{"the token ghp_abcdefghij… is cut", "the token " + m + "… is cut"},
		{`{\"api_key\":12345678,\"n\":1}`, `{\"api_key\":***,\"n\":1}`},
		{`x {"password": ["abcdefghijkl", "m"], "n": ["y"]}`, `x {"password": ["` + m + `"], "n": ["y"]}`},
		{`password := "correct horse"`, `password := "` + m + `"`},
		{"token:=abcd1234efgh", "token:=" + m},
		{`<Password type="x">correct horse</Password>`, `<Password type="x">` + m + `</Password>`},
		{`<ns:secret a="b" c="d">correct horse</ns:secret>`, `<ns:secret a="b" c="d">` + m + `</ns:secret>`},
		{"password&#61;correct-horse", "password&#61;" + m},
		{"DB_PASS=swordfish spring.mail.pass=hunter22", "DB_PASS=*** spring.mail.pass=***"},
		{"postgres://bob:hunt/er22@db.local/x", "postgres://" + m + "@db.local/x"},
		{"postgres://bob:12/er22@db.local/x", "postgres://" + m + "@db.local/x"},
		{"-f flv rtmp://a.example/live2/abcd-efgh-1234-5678 -y", "-f flv rtmp://a.example/live2/" + m + " -y"},
		{"rtmps://u:hunter22pw@a.example:443/app/live_12_aBcDeF?x=1", "rtmps://" + m + "@a.example:443/app/" + m + "?x=1"},
		{"sk-abcdefghijklmnop1234567890 sk-ant-api03-aB-cD3_eF4gH5-iJ", m + " " + m},
		{"x cGFzc3dvcmQ9Z2hwX2FCM2RFNWdIN2pLOW1OMXBRM3NUNXZXN3laOWJDMWRFM2ZHNQ== y", "x " + m + " y"},
		{"client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUUKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo=", "client-key-data: " + m},
		{`{"conf":"eyJwYXNzd29yZCI6ImNvcnJlY3QgaG9yc2UiLCJ4Ijoiw7_DvyJ9"}`, `{"conf":"` + m + `"}`},
		{"postgres://USER:hunter22@db.local/x", "postgres://" + m + "@db.local/x"},
		{"curl -u bob:hunter22 https://x.org", "curl -u " + m + " https://x.org"},
		{"curl -s --user 'bob:correct horse' x", "curl -s --user '" + m + "' x"},
		{"$ curl --proxy-user=bob:hunter22 x", "$ curl --proxy-user=" + m + " x"},
		{"密码：hunter22secret，然后", "密码：" + m + "，然后"},
		{"Пароль: hunter22secret", "Пароль: " + m},
		{`"パスワード": "correct horse"`, `"パスワード": "` + m + `"`},
		{`"passwd" => "abcdefghijkl"`, `"passwd" => "` + m + `"`},
	} {
		if got := Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestWhatStays(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "=", ":", "://", "password", "password=", "password: ", "token=$TOKEN", "password=<password>", "key: env:NAME",
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "run 9f86d081884c7d65",
		"00:01:02.500", "01:00:40:00", "12 s – 14 s", ".cutroom/stage/0123456789abcdef/media.watch/0123456789abcdef/0.jpg",
		"The secret: nobody knew.", "Secret: 12:30 at the bridge", "Password: please", "Cookie: I love them", "Authorization: granted by the chief",
		"basic understanding of things", "the bearer of bad news arrives", "His token of love: a ring", "skeleton-key", "sk-learn",
		"highpass=f=80,lowpass=f=12000", "ffmpeg -pass 1 -x264-params keyint=infinite:scenecut=0", "max_tokens: 4096", "keywords: a, b",
		"https://example.com/watch?v=dQw4w9WgXcQ&t=42", "user@example.com", "file:/proc/self/fd/3", "a==b", "key=value", "signature=detectmode=full",
		"the bearer token is the first line of /home/x/.local/state/cutroom/keys/http.token", "--token-file /etc/token", "Pass: 12 of 14",
		"pass=1:seed=7", "x264-params pass=2", "auth=none", "secret=true", "apiKey=null", "password=required", `"token": "optional"`, "highpass=f=200",
		"sk-learn-based-classifier-2", "http://127.0.0.1:8080/@user/x", "https://x.org/@user:name/y@z", "http://[::1]:80/@x", "rtmp://localhost/live/stream", "rtmp://localhost/live", "a := b", "token := strings.TrimRight(s[:n], `,`)", "<tokens n=\"2\">many words</tokens>", "<password/>x<b>",
		"TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQsIGNvbnNlY3RldHVy", "aVZCT1J3MEtHZ29BQUFBTlNVaEVVZ0FBQUFFQUFBQUI=", "docker run -u 1000:1000 x", "curl x | tar -u a:b", "curl -u $USER:$PASS x",
		"postgres://USER@HOST:PORT/NAME", "密码：请输入", "пароль: забыт", "他说密码是秘密", "curl --user bob x",
		`{"password": 12}`, "password=***", "password=" + Mask, "Authorization: Bearer " + Mask, "https://" + Mask + "@x.org/?token=" + Mask,
		strings.Repeat("/9j/4AAQSkZJRgABAQAAAQABAAD/AKIAABCDEFGHIJKLMNOPghp/", 40),
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%q) = %q", s, got)
		}
	}
}

func TestKnownValues(t *testing.T) {
	t.Parallel()
	r := New(func() []string { return []string{"s3cr3t/with+signs&\"quotes\"", "hunter2", "swordfish-and-chips"} })
	for _, tt := range []struct{ in, want string }{
		{"it is s3cr3t/with+signs&\"quotes\" here", "it is " + Mask + " here"},
		{"x=s3cr3t%2Fwith%2Bsigns%26%22quotes%22", "x=" + Mask},
		{"x=s3cr3t%2fwith%2bsigns%26%22quotes%22", "x=" + Mask},
		{`{"a":"s3cr3t/with+signs&\"quotes\""}`, `{"a":"` + Mask + `"}`},
		{`{"a":"s3cr3t/with+signs\u0026\"quotes\""}`, `{"a":"` + Mask + `"}`},
		{"hunter2 and hunter22 and xhunter2", "*** and hunter22 and xhunter2"},
		{"dXNlcjpzd29yZGZpc2gtYW5kLWNoaXBz", "dXNlcjp" + Mask},
		{"cut off: swordfish-and…", "cut off: " + Mask + "…"},
		{`a=\"s3cr3t\/with+signs\u0026\\\"quotes\\\""`, `a=\"` + Mask + `"`},
		{`{\"a\":\"s3cr3t/with+signs\\u0026\\\"quotes\\\"\"}`, `{\"a\":\"` + Mask + `\"}`},
		{`\u0073word\u0066ish-and-chip\u0073!`, Mask + "!"},
		{"<a>s3cr3t/with+signs&amp;&quot;quotes&#34;</a>", "<a>" + Mask + "</a>"},
		{"<a>s3cr3t&#x2F;with&plus;signs&#38;&#x22;quotes&quot;</a>", "<a>" + Mask + "</a>"},
		{"s3cr3t/with+signs&amp;amp;&amp;quot;quotes&amp;#34; twice", Mask + " twice"},
		{"x=s3cr3t%252Fwith%252Bsigns%2526%2522quotes%2522&y", "x=" + Mask + "&y"},
		{"x=%73word%66ish%2Dand-chips&y=%68unter2&z=%68unter22", "x=" + Mask + "&y=***&z=%68unter22"},
		{`drawtext=text=swordfish\-and\\-chips\:x`, "drawtext=text=" + Mask + `\:x`},
		{`s3cr3t/with\+signs\&\"quotes\" in a shell`, Mask + " in a shell"},
		{"SWORDFISH-and-Chips and HUNTER2", Mask + " and HUNTER2"},
		{"hex 73776f7264666973682D616E642d6368697073.", "hex " + Mask + "."},
		{"dXNlcjpzd29yZGZp\r\nc2gtYW5k\n  LWNoaXBz\n", "dXNlcjp" + Mask + "\n"},
		{`"dXNlcjpzd29yZGZp\nc2gtYW5kLWNoaXBz\n"`, `"dXNlcjp` + Mask + `\n"`},
		{"line\\nhunt\\u0065r2\\nline hun\nter2", "line\\n" + Mask + "\\nline hun\nter2"},
	} {
		if got := r.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{`{"a":"fine","n":1.50,"b":[1, "two"]}`, `{"a":"fine","n":1.50,"b":[1, "two"]}`},
		{`{"password":"x y z","n":2}`, `{"password":"***","n":2}`},
		{`{"cookies":["abcdefghijkl",{"name":"b"}], "c":"d"}`, `{"cookies":["[redacted]",{"name":"b"}], "c":"d"}`},
		{`{"note":"Cookie: sid=1234567890; b=2\nmore \"quoted\""}`, `{"note":"Cookie: [redacted]\nmore \"quoted\""}`},
		{`{"https://bob:hunter22@x.org":1,"https://eve:hunter22@x.org":2}`, `{"https://[redacted]@x.org":1,"https://[redacted]@x.org 2":2}`},
		{`"ghp_abcdefghijklmnopqrstuvwxyz0123456789"`, `"[redacted]"`},
		{`{"password":null,"token":{"secret":"abcdefghijklm"}}`, `{"password":null,"token":{"secret":"[redacted]"}}`},
		{`{"api_key":12345678,"pin":[1],"token":123456,"n":12345678}`, `{"api_key":0,"pin":[1],"token":123456,"n":12345678}`},
		{`{"password":["x y",["abcdefghijkl"],5551234,-1.5]}`, `{"password":["***",["[redacted]"],0,-1.5]}`},
		{`{"auth":"none","password":"required","secret":true}`, `{"auth":"none","password":"required","secret":true}`},
		{`not json, password=hunter22`, `not json, password=***`},
	} {
		if got := string(JSON([]byte(tt.in))); got != tt.want {
			t.Errorf("JSON(%s)\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}
