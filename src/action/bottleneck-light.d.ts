/** The part of bottleneck without Redis, which has no types of its own. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
