/** Of the root element, while what stands in the file is not what its address asks for. */
export const undrawn = 'undrawn'

/**
 * Runs before anything is shown: the colours are those of the system, and what stands in the file is not shown where the address asks
 * for something else.
 */
export const headScript = `{const{dataset,classList}=document.documentElement;dataset.theme=matchMedia('(prefers-color-scheme: dark)').matches?'dark':'light';if(location.hash)classList.add('${undrawn}')}`
