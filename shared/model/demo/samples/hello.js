exports.hello = (name) => `Hello, ${name}`;
