// A program that asks models through OpenAI's own library for JavaScript, as it is told by
// lines of JSON on standard input. Each is answered by a line: what the library made of
// the answer. The first argument is the library.
import { createInterface } from 'node:readline'

const { default: OpenAI, APIError } = await import(process.argv[2])
const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')
const url = (m) => (m.path ? m.path : `data:${m.type};base64,${m.data}`)

const look = {
  name: 'look', description: 'Look at a moment.',
  parameters: { type: 'object', properties: { at: { type: 'number' } }, required: ['at'], additionalProperties: false },
}

const chatBlock = {
  image: (m) => ({ type: 'image_url', image_url: { url: url(m), detail: 'high' } }),
  audio: (m) => ({ type: 'input_audio', input_audio: { data: m.data, format: m.name.split('.').pop() } }),
  video: (m) => ({ type: 'video_url', video_url: { url: url(m) } }),
}

const responsesBlock = {
  image: (m) => ({ type: 'input_image', detail: 'high', image_url: url(m) }),
  audio: (m) => ({ type: 'input_audio', input_audio: { data: m.data, format: m.name.split('.').pop() } }),
  video: (m) => ({ type: 'input_file', filename: m.name, file_data: url(m) }),
}

// conversation is a question with media, and when it is asked again what came after it.
function conversation(o, text, blocks) {
  const list = [{ role: 'user', content: [{ type: text, text: o.text }, ...(o.media ?? []).map((m) => blocks[m.kind](m))] }]
  if (o.again) list.push({ role: 'assistant', content: 'I have seen it.' }, { role: 'user', content: 'And now?' })
  return list
}

async function chat(client, o) {
  const body = { model: o.model, messages: conversation(o, 'text', chatBlock) }
  if (o.tools) body.tools = [{ type: 'function', function: { ...look, strict: true } }]
  if (!o.stream) {
    const { data, response } = await client.chat.completions.create(body).withResponse()
    return { doc: data, headers: Object.fromEntries(response.headers), ...chatSaid(data) }
  }
  const { data, response } = await client.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }).withResponse()
  const events = []
  const made = { choices: [{ message: { content: '', tool_calls: [] } }] }
  const message = made.choices[0].message
  for await (const event of data) {
    if (events.push(event) === 1) say({ begun: true })
    const delta = event.choices[0]?.delta ?? {}
    message.content += delta.content ?? ''
    for (const c of delta.tool_calls ?? []) {
      message.tool_calls[c.index] ??= { id: c.id, function: { name: c.function.name, arguments: '' } }
      message.tool_calls[c.index].function.arguments += c.function.arguments ?? ''
    }
    made.usage = event.usage ?? made.usage
  }
  return { doc: events, headers: Object.fromEntries(response.headers), ...chatSaid(made) }
}

function chatSaid(m) {
  const { content, tool_calls } = m.choices[0].message
  return {
    text: content ?? '', calls: (tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name, input: c.function.arguments })),
    usage: [m.usage?.prompt_tokens, m.usage?.completion_tokens, m.usage?.prompt_tokens_details?.cached_tokens],
  }
}

async function responses(client, o) {
  const body = { model: o.model, input: conversation(o, 'input_text', responsesBlock) }
  if (o.tools) body.tools = [{ type: 'function', ...look, strict: true }]
  if (!o.stream) {
    const { data, response } = await client.responses.create(body).withResponse()
    return { doc: data, headers: Object.fromEntries(response.headers), ...responsesSaid(data) }
  }
  const { data, response } = await client.responses.create({ ...body, stream: true }).withResponse()
  const events = []
  let made
  for await (const event of data) {
    if (events.push(event) === 1) say({ begun: true })
    made = event.response ?? made
  }
  return { doc: events, headers: Object.fromEntries(response.headers), ...responsesSaid(made) }
}

function responsesSaid(r) {
  return {
    text: r.output.filter((i) => i.type === 'message').flatMap((i) => i.content).map((c) => c.text ?? '').join(''),
    calls: r.output.filter((i) => i.type === 'function_call').map((i) => ({ id: i.call_id, name: i.name, input: i.arguments })),
    usage: [r.usage?.input_tokens, r.usage?.output_tokens, r.usage?.input_tokens_details?.cached_tokens],
  }
}

async function models(client) {
  const list = []
  for await (const m of client.models.list()) list.push(m.id)
  return { models: list }
}

for await (const line of createInterface({ input: process.stdin })) {
  const o = JSON.parse(line)
  const client = new OpenAI({ baseURL: o.base + '/v1', apiKey: o.key, maxRetries: 0, timeout: 120_000 })
  try {
    say(await { chat, responses, models }[o.do](client, o))
  } catch (e) {
    const { status, error, headers } = e instanceof APIError ? e : {}
    say({ fault: { name: e.constructor.name, status, doc: error, message: e.message }, headers: Object.fromEntries(headers ?? []) })
  }
}
