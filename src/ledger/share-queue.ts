/** What is to be done where others spend with the key. */
export const shareQueue = 'Hosts that share a key should share a queue: docs/many-machines.md'
