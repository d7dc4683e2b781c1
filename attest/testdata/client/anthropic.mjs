// As openai.mjs, through Anthropic's own library for JavaScript.
import { createInterface } from 'node:readline'

const { default: Anthropic, APIError } = await import(process.argv[2])
const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')

const look = {
  name: 'look', description: 'Look at a moment.',
  input_schema: { type: 'object', properties: { at: { type: 'number' } }, required: ['at'] },
}

const block = (m) => ({ type: m.kind, source: m.path ? { type: 'url', url: m.path } : { type: 'base64', media_type: m.type, data: m.data } })

async function messages(client, o) {
  const body = { model: o.model, max_tokens: 1000, messages: [{ role: 'user', content: [{ type: 'text', text: o.text }, ...(o.media ?? []).map(block)] }] }
  if (o.again) body.messages.push({ role: 'assistant', content: 'I have seen it.' }, { role: 'user', content: 'And now?' })
  if (o.tools) body.tools = [look]
  if (!o.stream) {
    const { data, response } = await client.messages.create(body).withResponse()
    return { doc: data, headers: Object.fromEntries(response.headers), ...said(data) }
  }
  const events = []
  const stream = client.messages.stream(body)
  stream.on('streamEvent', (event) => {
    if (events.push(structuredClone(event)) === 1) say({ begun: true })
  })
  const made = await stream.finalMessage()
  return { doc: events, headers: Object.fromEntries(stream.response?.headers ?? []), ...said(made) }
}

function said(m) {
  return {
    text: m.content.filter((c) => c.type === 'text').map((c) => c.text).join(''),
    calls: m.content.filter((c) => c.type === 'tool_use').map((c) => ({ id: c.id, name: c.name, input: JSON.stringify(c.input) })),
    usage: [m.usage.input_tokens + m.usage.cache_read_input_tokens, m.usage.output_tokens, m.usage.cache_read_input_tokens],
  }
}

async function models(client) {
  const list = []
  for await (const m of client.models.list()) list.push(m.id)
  return { models: list }
}

for await (const line of createInterface({ input: process.stdin })) {
  const o = JSON.parse(line)
  const client = new Anthropic({ baseURL: o.base, apiKey: o.key, maxRetries: 0, timeout: 120_000 })
  try {
    say(await { messages, models }[o.do](client, o))
  } catch (e) {
    const { status, error, headers } = e instanceof APIError ? e : {}
    say({ fault: { name: e.constructor.name, status, doc: error, message: e.message }, headers: Object.fromEntries(headers ?? []) })
  }
}
