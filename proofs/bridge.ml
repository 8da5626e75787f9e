(* Reads tables and words from standard input, and writes what the extracted search answers, -1 where it is open.

   Of each table: the number n of candidates, the ends of n + 1 intervals as integers, the width of words and their
   number, and the words. *)

let number () = Scanf.scanf " %s" Z.of_string
let count () = Scanf.scanf " %d" (fun n -> n)

let () =
  for _ = 1 to count () do
    let n = count () in
    let ends = Array.init (n + 1) (fun _ -> let low = number () in (low, number ())) in
    let low j = fst ends.(j) and high j = snd ends.(j) in
    let width = number () in
    for _ = 1 to count () do
      match Reference.locate n low high (number ()) width with
      | Some i -> Printf.printf "%d\n" i
      | None -> print_string "-1\n"
    done
  done
