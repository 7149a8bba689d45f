// Chats with Limpid through the package openai for Node, which nobody here wrote, and prints what it saw as JSON.
//
//     node openai-client.mjs MODULES ADDRESS TOKEN
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, address, token] = process.argv.slice(2);
const { OpenAI } = createRequire(join(modules, "x.js"))("openai");
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: token, timeout: 60_000 });
const seen = { models: [] };
for await (const model of client.models.list()) seen.models.push(model.id);

const said = [{ role: "user", content: [{ type: "text", text: "hi" }] }];
const { data: first, response } = await client.chat.completions.create({ model: "agent", messages: said }).withResponse();
seen.first = [first.choices[0].message.content, first.choices[0].finish_reason, first.usage.total_tokens > 0];
const conversation = response.headers.get("x-limpid-conversation");

said.push({ role: "assistant", content: first.choices[0].message.content }, { role: "user", content: "more" });
const streamed = await client.chat.completions
  .create({ model: "agent", messages: said, stream: true, stream_options: { include_usage: true } })
  .withResponse();
seen.same = streamed.response.headers.get("x-limpid-conversation") === conversation;
seen.stream = ["", null, false];
for await (const piece of streamed.data) {
  seen.stream[0] += piece.choices[0]?.delta?.content ?? "";
  seen.stream[1] = piece.choices[0]?.finish_reason ?? seen.stream[1];
  seen.stream[2] ||= (piece.usage?.total_tokens ?? 0) > 0;
}

const helper = client.chat.completions.stream({ model: "agent", user: "ada", messages: [{ role: "user", content: "again" }] });
seen.helper = await helper.finalContent();
try {
  await client.chat.completions.create({ model: "no/such", messages: [{ role: "user", content: "x" }] });
} catch (error) {
  seen.unknown = [error.constructor.name, error.code, error.param];
}
console.log(JSON.stringify(seen));
