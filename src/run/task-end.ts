/**
 * How a task ended here. `open`: it did not come to an end, and is to be given back (an accepted job stays one).
 * `given-back`: it waits to be sent again already, and may be in work again. `follows`: the service works on it.
 */
export type TaskEnd =
  | { readonly answerId: number }
  | { readonly failed: string }
  | 'open'
  | 'given-back'
  | { readonly follows: Promise<TaskEnd> }
