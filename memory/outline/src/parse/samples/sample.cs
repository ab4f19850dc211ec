using System;
using Map = System.Collections.Generic.Dictionary<string, string>;

namespace Example.Store
{
    /// <summary>
    /// Keeps users.
    /// </summary>
    [Serializable]
    public class Users : IUsers
    {
        public int Count { get; set; }
        public Users(int size) { }
        public static bool operator ==(Users a, Users b) => true;
        public async Task<User> FindAsync(string name, int depth = 1)
        {
            int Local(int x) => x;
            return null;
        }
    }

    public interface IUsers { void Clear(); }
    public enum Mode { On }
    public struct Point { }
    public delegate void Handler(int id);
    public record Pair(int A, int B);
}
