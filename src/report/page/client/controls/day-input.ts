/** Milliseconds after which a typed day is taken. A day of the browser's calendar is taken at once. */
const typingPause = 900

/**
 * Calls back with a day that is chosen in a field. A day that is typed is another day after each digit, so it is taken after a
 * pause, with Enter, or when the field is left. Days that the field does not allow
 * are not taken.
 */
export function onDay(input: HTMLInputElement, react: (day: string) => void): void {
  let isTyped = false
  // A field that is hidden loses the focus, too, with a day that the reader did not enter.
  let isEdited = false
  let pause: ReturnType<typeof setTimeout> | undefined
  input.addEventListener('input', () => {
    isEdited = true
  })
  input.addEventListener('keydown', ({ key }) => {
    isTyped = true
    if (key === 'Enter') take()
  })
  input.addEventListener('pointerdown', () => {
    isTyped = false
  })
  input.addEventListener('change', () => {
    clearTimeout(pause)
    if (isTyped) pause = setTimeout(take, typingPause)
    else take()
  })
  input.addEventListener('blur', () => {
    if (!isEdited) return
    take()
    isEdited = false
    if (input.value === '' || !input.validity.valid) setDay(input, input.defaultValue)
  })

  function take(): void {
    clearTimeout(pause)
    const { value, validity } = input
    if (value === '' || !validity.valid || value === input.defaultValue) return
    isEdited = false
    react(value)
  }
}

/** Shows a day, which the field has until another one is taken. The same day again would undo what is being typed. */
export function setDay(input: HTMLInputElement, day: string): void {
  if (input.value !== day) input.value = day
  if (input.defaultValue !== day) input.defaultValue = day
}
