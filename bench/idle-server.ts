import { createServer, type Socket } from 'node:net'
import { readConduct, type ServerConduct } from './conduct.ts'

/**
 * A server that closes idle connections, in a process of its own: it keeps its times whatever the client is busy with.
 * How it behaves is said by the path of each request. Its answers are the number of their connection.
 */
let connections = 0
const server = createServer((socket) => serve(socket, ++connections))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : null)
})
process.on('disconnect', () => process.exit())

function serve(socket: Socket, number: number): void {
  let closed = false
  let idle: NodeJS.Timeout | undefined
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('close', () => clearTimeout(idle))
  socket.on('data', (chunk) => {
    const conduct = readConduct(chunk.toString('latin1'))
    later(conduct.delayMs, () => {
      // The request met the close on its way: a server no longer reads it, and the client cannot know.
      if (closed) return
      clearTimeout(idle)
      later(conduct.answerMs, () => answer(conduct))
    })
  })

  function answer({ idleMs, hintSeconds, delayMs }: ServerConduct): void {
    const hint = hintSeconds === null ? '' : `keep-alive: timeout=${hintSeconds}\r\n`
    const body = String(number)
    const text = `HTTP/1.1 200 OK\r\n${hint}content-length: ${body.length}\r\n\r\n${body}`
    later(delayMs, () => socket.write(text))
    idle = setTimeout(() => {
      closed = true
      later(delayMs, () => socket.destroy())
    }, idleMs)
  }
}

function later(ms: number, act: () => void): void {
  if (ms === 0) act()
  else setTimeout(act, ms)
}
