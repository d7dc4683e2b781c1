#!/usr/bin/env bash
# Makes the sample clip: 26 s of synthetic voice over five pictures with hard cuts,
# text on the screen (a title, a table of numbers, a terminal, a notice) and a
# silence of more than 3 s. The same programs make the same bytes; another version of
# the encoder may make others, so the clip is committed.
#
#   scripts/demo-clip.sh [OUT.mp4]     needs ffmpeg, espeak-ng and fonts-dejavu-core
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-testdata/media/demo.mp4}
fonts=/usr/share/fonts/truetype/dejavu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# speak N START SENTENCE: the N-th line of the voice, START in milliseconds.
voices=() delays=() starts=()
speak() {
	espeak-ng -v en-us -s 140 -w "$tmp/voice$1.wav" "$3"
	voices+=(-i "$tmp/voice$1.wav")
	delays+=("[$1:a]aresample=48000,adelay=$2[v$1];")
	starts+=("[v$1]")
}
speak 0 200 'Welcome to the weekly review. Today we look at the new release.'
speak 1 5900 'The first picture shows how many people came each day, from Monday to Friday.'
speak 2 12500 'The computer was not able to save the file, because there was no space left.'
speak 3 21200 'After one hour the problem was solved. Thank you for watching.'

# text NAME: a drawtext of the file NAME.txt, which standard input becomes. Text
# never stands in the filter graph itself, so no character of it can be special.
text() {
	cat >"$tmp/$1.txt"
	printf 'drawtext=textfile=%s:expansion=none:fontfile=%s/%s.ttf:%s' "$tmp/$1.txt" "$fonts" "$2" "$3"
}
caption='fontsize=30:fontcolor=white:box=1:boxcolor=black:boxborderw=12:x=(w-text_w)/2:y=h-80'
screen() { printf 'color=c=%s:s=1280x720:r=25:d=%s' "$1" "$2"; }

title=$(screen 0x1d3557 5.6),$(text t1 DejaVuSans-Bold 'fontsize=76:fontcolor=white:x=100:y=210' <<<'Weekly release review'),$(
	text t2 DejaVuSans 'fontsize=44:fontcolor=0xa8dadc:x=100:y=330' <<<'Version 2.4, Monday to Friday'),$(
	text t3 DejaVuSans "$caption" <<<'Today we look at the new release.')

numbers=$(screen white 6.6),$(text n DejaVuSans-Bold 'fontsize=52:fontcolor=black:x=100:y=60' <<<'Visitors per day')
top=170
while read -r day visitors; do
	at="fontsize=44:fontcolor=black:y=$((top + 38))-ascent"
	numbers+=,$(text "$day" DejaVuSans "$at:x=100" <<<"$day"),$(text "$day.n" DejaVuSans "$at:x=440" <<<"$visitors")
	numbers+=,drawbox=x=600:y=$top:w=$((visitors * 6 / 10)):h=44:c=0x457b9d:t=fill
	top=$((top + 90))
done <<'TABLE'
Monday 128
Tuesday 256
Wednesday 349
Thursday 570
Friday 864
TABLE

terminal=$(screen 0x2e3440 6),$(text c1 DejaVuSansMono 'fontsize=36:fontcolor=0xeceff4:line_spacing=18:x=70:y=90' <<'TEXT'
$ date
Fri 18:42
$ save release.tar
writing part 7 of 9
error: no space left on disk
$ retry
TEXT
),drawbox=x=70:y=470:w=18:h=40:c=0xeceff4:t=fill:enable='lt(mod(t\,1)\,0.5)'

waiting=$(screen 0xe9c46a 2.8),$(text w1 DejaVuSans-Bold 'fontsize=64:fontcolor=black:x=(w-text_w)/2:y=240' <<<'Please wait'),$(
	text w2 DejaVuSans 'fontsize=40:fontcolor=black:x=(w-text_w)/2:y=350' <<<'installing a second disk'
)
for step in 0 1 2 3 4; do
	waiting+=",drawbox=x=$((377 + step * 108)):y=450:w=85:h=40:c=0x264653:t=fill:enable='gte(t\,$step*0.5)'"
done

solved=$(screen 0x2a6f4e 5),$(text d1 DejaVuSans-Bold 'fontsize=72:fontcolor=white:x=100:y=220' <<<'All systems work'),$(
	text d2 DejaVuSans 'fontsize=44:fontcolor=white:x=100:y=340' <<<'2 disks, 61% free'),$(
	text d3 DejaVuSans "$caption" <<<'After one hour the problem was solved.')

graph="${delays[*]} $(printf '%s' "${starts[@]}")amix=inputs=${#starts[@]}:normalize=0,apad=whole_dur=26,atrim=end=26[sound];
$title[a];$numbers[b];$terminal[c];$waiting[d];$solved[e];
[a][b][c][d][e]concat=n=5,format=yuv420p[picture]"

mkdir -p "$(dirname "$out")"
ffmpeg -v error -nostdin -y "${voices[@]}" -filter_complex_threads 1 -filter_complex "$graph" \
	-map '[picture]' -map '[sound]' -t 26 -map_metadata -1 -fflags +bitexact \
	-c:v libx264 -threads 1 -preset slow -crf 23 -g 75 -flags:v +bitexact \
	-c:a aac -b:a 96k -ac 1 -flags:a +bitexact -movflags +faststart "$out"
