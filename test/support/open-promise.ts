/** A promise that is fulfilled from outside. */
export function openPromise<T = void>() {
  let fulfil: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    fulfil = resolve
  })
  return { promise, fulfil }
}
