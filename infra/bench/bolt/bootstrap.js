// The loop of Lambda's runtime for Node, without what it does besides: it asks
// for events once the app is loaded.
import { handler } from './app.js';

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
for (;;) {
  const next = await fetch(`${api}/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const answer = await handler(await next.json(), {}, () => {});
  await fetch(`${api}/${id}/response`, { method: 'POST', body: JSON.stringify(answer) });
}
