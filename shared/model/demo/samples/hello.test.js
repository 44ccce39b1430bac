const test = require('node:test');
const assert = require('node:assert');
const { hello } = require('./hello.js');

test('it greets', () => assert.strictEqual(hello('Ringi'), 'Hello, Ringi'));
