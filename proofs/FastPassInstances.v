(* Numbers that meet all that the theorems of the fast pass ask for: a total of 1, errors of up to 1/1024 of it; and what
   is wrong with smaller margins. *)

From Coq Require Import Reals Lra ZArith Lia.
From Flocq Require Import Core.
From Discreet Require Import FastPass Doubles.
Open Scope R_scope.

Lemma rounded_not_at_all : forall x, rounded u x x.
Proof. intros x. exists 0. rewrite Rabs_R0. pose proof u_small. split; lra. Qed.

Lemma rounded_up : forall x, rounded u x (x * (1 + u)).
Proof.
  intros x. exists u. pose proof u_small. rewrite Rabs_pos_eq by lra. split; lra.
Qed.

Lemma rounded_down : forall x, rounded u x (x * (1 - u)).
Proof.
  intros x. exists (- u). pose proof u_small. rewrite Rabs_Ropp, Rabs_pos_eq by lra. split; lra.
Qed.

Lemma exact_target : forall word zh, target u word zh (word * zh).
Proof. intros word zh. exists word. split; apply rounded_not_at_all. Qed.

Lemma exact_slack : forall b A zh, slack u b A zh ((2 * A + b * u) * zh).
Proof. intros b A zh. exists (2 * A + b * u). split; apply rounded_not_at_all. Qed.

Lemma exactly_certain : forall x y margin, x - y > margin -> certain u x y margin.
Proof. intros x y margin above. exists (x - y). split; [apply rounded_not_at_all|exact above]. Qed.

Ltac near := match goal with |- Rabs ?x <= _ => apply Rabs_le; lra end.

(* The real total is 1025/1024 of the computed one, and the real sum 1/2 + 1/1024 for 1/2. *)
Example lower_end_is_certain_instance : 1 / 2 + 1 / 1024 <= 7 / 8 * (1025 / 1024).
Proof.
  pose proof u_small as [small0 small1].
  apply lower_end_is_certain with (u := u) (A := 1 / 1024) (zh := 1) (sh := 1 / 2) (word := 3 / 4)
    (t := 3 / 4 * 1) (margin := (2 * (1 / 1024) + 8 * u) * 1); try lra; try near.
  - apply exact_target.
  - apply exact_slack.
  - apply exactly_certain. lra.
Qed.

Example upper_end_is_certain_instance : 1 / 8 * (1025 / 1024) < 1 / 2 - 1 / 1024.
Proof.
  pose proof u_small as [small0 small1].
  apply upper_end_is_certain with (u := u) (A := 1 / 1024) (zh := 1) (sh := 1 / 2) (next := 1 / 4)
    (t := 1 / 4 * 1) (margin := (2 * (1 / 1024) + 8 * u) * 1); try lra; try near.
  - apply exact_target.
  - apply exact_slack.
  - apply exactly_certain. lra.
Qed.

Example upper_end_in_a_batch_is_certain_instance : 3 / 16 * (1025 / 1024) < 1 / 2 - 1 / 1024.
Proof.
  pose proof u_small as [small0 small1].
  apply upper_end_in_a_batch_is_certain with (u := u) (A := 1 / 1024) (zh := 1) (sh := 1 / 2)
    (word := 1 / 8) (cell := 1 / 8) (t := 1 / 8 * 1) (margin := (2 * (1 / 1024) + 8 * u) * 1);
    try lra; try near.
  - apply exact_target.
  - apply exact_slack.
  - exists ((2 * (1 / 1024) + 8 * u) * 1 + 1 / 8 * 1). split; [apply rounded_not_at_all|].
    apply exactly_certain. lra.
Qed.

Example heads_are_certain_instance : 3 / 16 < 7 / 8.
Proof.
  pose proof u_small as [small0 small1].
  assert (tiny : u <= 1 / 4096) by (unfold u; cbn; lra).
  apply heads_are_certain with (u := u) (C := 1 / 1024) (computed := 7 / 8 + 1 / 1024) (word := 1 / 8)
    (cell := 1 / 8) (w := 1 / 8); try lra; try near.
  - apply rounded_not_at_all.
  - exists (2 * (1 / 1024) + 1 / 8). split; [apply rounded_not_at_all|]. apply exactly_certain. lra.
Qed.

Example tails_are_certain_instance : 1 / 8 <= 13 / 16.
Proof.
  pose proof u_small as [small0 small1].
  assert (tiny : u <= 1 / 4096) by (unfold u; cbn; lra).
  apply tails_are_certain with (u := u) (C := 1 / 1024) (computed := 1 / 8 - 1 / 1024) (word := 3 / 4)
    (cell := 1 / 8) (w := 3 / 4); try lra; try near.
  - apply rounded_not_at_all.
  - exists (2 * (1 / 1024) + 1 / 8). split; [apply rounded_not_at_all|]. apply exactly_certain. lra.
Qed.

(* ---- In doubles ---- *)

Lemma dyadic : forall m e, (Z.abs m < 2 ^ 53)%Z -> (-1074 <= e)%Z -> format (IZR m * bpow radix2 e).
Proof.
  intros m e small big. apply generic_format_FLT. exists (Float radix2 m e); [reflexivity|exact small|exact big].
Qed.

Lemma rnd_dyadic :
  forall m e, (Z.abs m < 2 ^ 53)%Z -> (-1074 <= e)%Z ->
    rnd (IZR m * bpow radix2 e) = IZR m * bpow radix2 e.
Proof. intros m e small big. apply round_generic; [apply valid_rnd_N|]. apply dyadic; assumption. Qed.

(* x is the double m * 2^e. *)
Ltac is_double x m e :=
  let H := fresh in
  assert (H : format x) by (replace x with (IZR m * bpow radix2 e) by (cbn; lra); apply dyadic; lia).

Ltac stays x m e :=
  replace (rnd x) with x by
    (symmetry; replace x with (IZR m * bpow radix2 e) by (cbn; lra); apply rnd_dyadic; lia).

Lemma margin_of_instance : margin (1 / 1024) 1 = 1 / 512 + 8 * u.
Proof.
  unfold margin.
  assert (sum : rnd (2 * (1 / 1024) + 8 * u) = 1 / 512 + 8 * u).
  { replace (2 * (1 / 1024) + 8 * u) with (IZR (2 ^ 41 + 1) * bpow radix2 (-50)) by (unfold u; cbn; lra).
    rewrite rnd_dyadic by lia. unfold u. cbn. lra. }
  rewrite sum. replace ((1 / 512 + 8 * u) * 1) with (IZR (2 ^ 41 + 1) * bpow radix2 (-50)) by (unfold u; cbn; lra).
  rewrite rnd_dyadic by lia. unfold u. cbn. lra.
Qed.

Lemma target_of_eighths : forall m, (0 <= m < 16)%Z -> target_of 1 (IZR m * bpow radix2 (-3)) = IZR m * bpow radix2 (-3).
Proof.
  intros m few. unfold target_of. rewrite rnd_dyadic by lia. rewrite Rmult_1_r. apply rnd_dyadic; lia.
Qed.

Lemma unit_sizes :
  format (1 / 1024) /\ format 1 /\ format (1 / 2) /\ bpow radix2 (-100) <= 1 /\
  bpow radix2 (-900) <= 1 / 8.
Proof.
  split; [|split; [|split; [|split]]].
  - replace (1 / 1024) with (IZR 1 * bpow radix2 (-10)) by (cbn; lra). apply dyadic; lia.
  - replace 1 with (IZR 1 * bpow radix2 0) by (cbn; lra). apply dyadic; lia.
  - replace (1 / 2) with (IZR 1 * bpow radix2 (-1)) by (cbn; lra). apply dyadic; lia.
  - replace 1 with (bpow radix2 0) by reflexivity. apply bpow_le. lia.
  - replace (1 / 8) with (bpow radix2 (-3)) by (cbn; lra). apply bpow_le. lia.
Qed.

Example rounding_is_relative_instance : rounded u (1 / 8) (rnd (1 / 8)).
Proof.
  apply rounding_is_relative. right. rewrite Rabs_pos_eq by lra.
  replace (1 / 8) with (bpow radix2 (-3)) by (cbn; lra). apply bpow_le. lia.
Qed.

Example rounding_of_sums_is_relative_instance : rounded u (1 / 2 + 1 / 1024) (rnd (1 / 2 + 1 / 1024)).
Proof. destruct unit_sizes as [a [_ [b _]]]. apply rounding_of_sums_is_relative; assumption. Qed.

Example locate_lower_instance : 1 / 2 + 1 / 1024 <= 7 / 8 * (1025 / 1024).
Proof.
  destruct unit_sizes as [fa [f1 [fh [size1 size8]]]]. pose proof u_small.
  apply locate_lower with (A := 1 / 1024) (zh := 1) (sh := 1 / 2) (word := 3 / 4); try assumption; try lra;
    try near.
  replace (3 / 4) with (IZR 6 * bpow radix2 (-3)) by (cbn; lra). rewrite target_of_eighths by lia.
  rewrite margin_of_instance.
  replace (IZR 6 * bpow radix2 (-3) - 1 / 2) with (IZR 1 * bpow radix2 (-2)) by (cbn; lra).
  rewrite rnd_dyadic by lia. cbn. lra.
Qed.

Example locate_upper_instance : 1 / 16 * (1025 / 1024) < 1 / 2 - 1 / 1024.
Proof.
  destruct unit_sizes as [fa [f1 [fh [size1 size8]]]]. pose proof u_small.
  apply locate_upper with (A := 1 / 1024) (zh := 1) (sh := 1 / 2) (next := 1 / 8); try assumption; try lra;
    try near.
  replace (1 / 8) with (IZR 1 * bpow radix2 (-3)) by (cbn; lra). rewrite target_of_eighths by lia.
  rewrite margin_of_instance.
  replace (1 / 2 - IZR 1 * bpow radix2 (-3)) with (IZR 3 * bpow radix2 (-3)) by (cbn; lra).
  rewrite rnd_dyadic by lia. cbn. lra.
Qed.

Example locate_all_upper_instance : 3 / 16 * (1025 / 1024) < 1 / 2 - 1 / 1024.
Proof.
  destruct unit_sizes as [fa [f1 [fh [size1 size8]]]]. pose proof u_small.
  assert (cell : bpow radix2 (- (3)) = 1 / 8) by (cbn; lra).
  apply locate_all_upper with (A := 1 / 1024) (zh := 1) (sh := 1 / 2) (word := 1 / 8) (width := 3%Z);
    rewrite ?cell; try assumption; try lra; try near; try lia.
  replace (1 / 8) with (IZR 1 * bpow radix2 (-3)) at 1 by (cbn; lra). rewrite target_of_eighths by lia.
  rewrite margin_of_instance.
  replace (1 / 2 - IZR 1 * bpow radix2 (-3)) with (IZR 3 * bpow radix2 (-3)) by (cbn; lra).
  replace (1 / 512 + 8 * u + 1 / 8 * 1) with (IZR (2 ^ 41 + 2 ^ 47 + 1) * bpow radix2 (-50)) by (unfold u; cbn; lra).
  rewrite !rnd_dyadic by lia. cbn. lra.
Qed.

(* ---- What is wrong with smaller margins ---- *)

(* 2 A + 5 u, where errors are half of the total. *)
Lemma five_roundings_are_too_few :
  exists A zh z sh s word v t margin,
    0 <= A /\ 0 < zh /\ 0 < z /\ 0 <= sh /\ Rabs (zh - z) <= A * zh /\ Rabs (sh - s) <= A * zh /\
    0 <= word /\ word <= v /\ v <= 1 /\
    target u word zh t /\ slack u 5 A zh margin /\ certain u t sh margin /\ ~ s <= v * z.
Proof.
  pose proof u_small as [small0 small1].
  exists (1 / 2), 1, (1 / 2), 0, (1 / 2), (1 - u * u), (1 - u * u),
    ((1 - u * u) * (1 + u) * 1 * (1 + u)), ((2 * (1 / 2) + 5 * u) * (1 - u) * 1 * (1 - u)).
  assert (square : 0 < u * u) by (apply Rmult_lt_0_compat; lra).
  assert (below : u * u <= 1 / 1000 * (1 / 1000)) by (apply Rmult_le_compat; lra).
  assert (cube : 0 <= u * (u * u) <= 1 / 1000 * (u * u))
    by (split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_r; lra]).
  assert (fourth : 0 <= u * (u * (u * u)) <= 1 / 1000 * (u * (u * u)))
    by (split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_r; lra]).
  assert (fifth : 0 <= u * (u * (u * (u * u))) <= 1 / 1000 * (u * (u * (u * u))))
    by (split; [apply Rmult_le_pos; lra|apply Rmult_le_compat_r; lra]).
  repeat apply conj; try lra; try near.
  - exists ((1 - u * u) * (1 + u)). split; apply rounded_up.
  - exists ((2 * (1 / 2) + 5 * u) * (1 - u)). split; apply rounded_down.
  - exists (((1 - u * u) * (1 + u) * 1 * (1 + u) - 0) * (1 + u)). split; [apply rounded_up|]. lra.
Qed.

(* 1.999 A + 8 u. *)
Lemma less_than_two_errors_are_too_few :
  exists A zh z sh s word v t,
    0 <= A /\ 0 < zh /\ 0 < z /\ 0 <= sh /\ Rabs (zh - z) <= A * zh /\ Rabs (sh - s) <= A * zh /\
    0 <= word /\ word <= v /\ v <= 1 /\
    target u word zh t /\ certain u t sh (1999 / 1000 * A + 8 * u) /\ ~ s <= v * z.
Proof.
  assert (tiny : 0 < u <= 1 / 1000000) by (unfold u; cbn; lra).
  exists (1 / 4), 1, (3 / 4), (4095 / 4096 - 4998 / 10000), (4095 / 4096 - 2498 / 10000),
    (4095 / 4096), (4095 / 4096), (4095 / 4096 * 1).
  repeat apply conj; try lra; try near.
  - apply exact_target.
  - apply exactly_certain. lra.
Qed.

(* In a batch, without the cell. *)
Lemma the_cell_is_needed :
  exists A zh z sh s word cell v t margin,
    0 <= A /\ 0 < zh /\ 0 < z /\ sh <= zh /\ Rabs (zh - z) <= A * zh /\ Rabs (sh - s) <= A * zh /\
    0 <= word /\ 0 < cell /\ word + cell <= 1 /\ 0 <= v /\ v < word + cell /\
    target u word zh t /\ slack u 8 A zh margin /\ certain u sh t margin /\ ~ v * z < s.
Proof.
  pose proof u_small as [small0 small1].
  exists 0, 1, 1, (3 / 10), (3 / 10), 0, (1 / 2), (4 / 10), (0 * 1), ((2 * 0 + 8 * u) * 1).
  repeat apply conj; try lra; try near.
  - apply exact_target.
  - apply exact_slack.
  - apply exactly_certain. lra.
Qed.

(* A coin with once its error. *)
Lemma one_error_of_a_coin_is_too_little :
  exists C computed p word cell v w,
    4 * u <= C /\ C <= 1 / 4 /\ Rabs (computed - p) <= C /\
    0 <= word /\ 0 < cell /\ word + cell <= 1 /\ v < word + cell /\
    rounded u word w /\ certain_with_cell u computed w C cell /\ ~ v < p.
Proof.
  assert (tiny : 0 < u <= 1 / 1000000) by (unfold u; cbn; lra).
  exists (1 / 8), (3 / 4 - u / 4 + 1 / 8), (3 / 4 - u / 4), (1 / 2), (1 / 4), (3 / 4 - u / 4),
    (1 / 2 * (1 - u)).
  repeat apply conj; try lra; try near.
  - apply rounded_down.
  - exists (1 / 8 + 1 / 4). split; [apply rounded_not_at_all|]. apply exactly_certain. lra.
Qed.
