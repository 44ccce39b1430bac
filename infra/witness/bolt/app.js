// The witness's app on Bolt for JavaScript: see package witness for what it does.
import bolt from '@slack/bolt';

const { App, HTTPReceiver } = bolt;
const receiver = new HTTPReceiver({
  signingSecret: process.env.SLACK_SIGNING_SECRET,
  endpoints: '/slack/events',
  logLevel: 'error',
  unhandledRequestTimeoutMillis: 60_000, // else it complains of a busy machine
});
const app = new App({
  token: process.env.SLACK_BOT_TOKEN,
  receiver,
  logLevel: 'error',
  clientOptions: { slackApiUrl: process.env.SLACK_API_URL, retryConfig: { retries: 0 } },
});

const button = (action_id, text, value) => ({ type: 'button', action_id, value, text: { type: 'plain_text', text } });
const face = (text, ...buttons) => [
  { type: 'section', text: { type: 'mrkdwn', text } },
  ...(buttons.length ? [{ type: 'actions', block_id: 'choices', elements: buttons }] : []),
];

app.event('app_mention', async ({ event, client }) => {
  await client.chat.postMessage({
    channel: event.channel,
    thread_ts: event.ts,
    text: 'heard',
    blocks: face(`heard <@${event.user}>`, button('open_form', 'Write a note', event.ts), button('finish', 'Finish', event.ts)),
    metadata: { event_type: 'witness', event_payload: { event_ts: event.event_ts } },
  });
});

app.action('open_form', async ({ ack, body, client }) => {
  await ack();
  await client.views.open({
    trigger_id: body.trigger_id,
    view: {
      type: 'modal',
      callback_id: 'note_form',
      private_metadata: JSON.stringify({ channel: body.channel.id, ts: body.message.ts }),
      title: { type: 'plain_text', text: 'A note' },
      submit: { type: 'plain_text', text: 'Send' },
      blocks: [{
        type: 'input',
        block_id: 'note_block',
        label: { type: 'plain_text', text: 'Note' },
        element: { type: 'plain_text_input', action_id: 'note', multiline: true },
      }],
    },
  });
});

app.view('note_form', async ({ ack, view, client }) => {
  const note = view.state.values.note_block.note.value ?? '';
  if (note.length < 3) {
    await ack({ response_action: 'errors', errors: { note_block: 'at least three characters' } });
    return;
  }
  await ack();
  const { channel, ts } = JSON.parse(view.private_metadata);
  await client.chat.update({ channel, ts, text: 'noted', blocks: face(`noted: ${note}`, button('finish', 'Finish', ts)) });
});

app.action('finish', async ({ ack, body, client, respond }) => {
  await ack();
  const thread_ts = body.message.thread_ts;
  const { messages } = await client.conversations.replies({ channel: body.channel.id, ts: thread_ts, include_all_metadata: true });
  const ours = messages.filter((m) => m.metadata?.event_type === 'witness');
  await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: 'finished', blocks: face(`finished, ${ours.length} of ${messages.length} messages are ours`) });
  await client.chat.postEphemeral({ channel: body.channel.id, thread_ts, user: body.user.id, text: 'for you alone' });
  await respond({ response_type: 'ephemeral', replace_original: false, text: 'by response_url' });
});

app.shortcut('cancel_task', async ({ ack, shortcut, client }) => {
  await ack();
  await client.chat.postMessage({ channel: shortcut.channel.id, thread_ts: shortcut.message.ts, text: `cancelled by <@${shortcut.user.id}>` });
});

const server = await app.start(0);
console.log(JSON.stringify({ port: server.address().port }));
// The test's end of this pipe closes when the test does, however it ends.
process.stdin.resume().on('end', () => process.exit(0));
