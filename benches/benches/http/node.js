// What the database answers over HTTP, from Node.js: node.js PORT PROCESSES
const cluster = require('node:cluster');
const http = require('node:http');

const [port, processes] = process.argv.slice(2).map(Number);
// 67 bytes.
const fixed = JSON.stringify({ headers: ['a'], rows: [[12]], next: null, ok: true, took: 0.0001 });

function factorials() {
  let [sum, factorial] = [0, 1];
  for (let n = 1; n <= 100; n++) {
    factorial *= n;
    sum += factorial;
  }
  return JSON.stringify({ headers: ['sum'], rows: [[sum]], next: null, ok: true, took: 0.0001 });
}

function answer(request, response) {
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    const { script } = JSON.parse(body);
    const json = script.includes('factorial') ? factorials() : fixed;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
    response.end(json);
  });
}

if (processes > 1 && cluster.isPrimary) {
  for (let n = 0; n < processes; n++) cluster.fork();
} else {
  http.createServer(answer).listen(port, '127.0.0.1');
}
