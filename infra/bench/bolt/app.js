// A Slack app as Bolt's own guide for AWS Lambda has it, beside the AWS clients
// of receive-interaction: what starts when Slack's click finds no warm process.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import bolt from '@slack/bolt';

const { SecretString } = await new SecretsManagerClient({}).send(new GetSecretValueCommand({ SecretId: process.env.SLACK_SECRET_ID }));
const secret = JSON.parse(SecretString);
const table = new DynamoDBClient({});
const receiver = new bolt.AwsLambdaReceiver({ signingSecret: secret.signing_secret });
const app = new bolt.App({ receiver, token: secret.bot_token, tokenVerificationEnabled: false, clientOptions: { slackApiUrl: secret.api_url } });

app.action('approve_prompt', async ({ ack }) => {
  await ack();
  await table.config.region();
});

export const handler = await receiver.start();
